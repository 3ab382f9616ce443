import { expect, test } from 'vitest';
import { runChild } from '../helpers/children.js';
import { temporaryFolder } from '../helpers/folder.js';
import { repetitions } from '../helpers/repetitions.js';

const file = temporaryFolder();
/** Size of the records file. LOREKEEP_RECORDS_MB=2000 is the largest that the documentation has a number for. */
const megabytes = Number(process.env.LOREKEEP_RECORDS_MB ?? repetitions('RECORDS_MB', 100, 200));

test.skipIf(process.platform !== 'linux')(
  `opening a records file of ${megabytes} MB takes less than 2.5 times its size`,
  async () => {
    const args = [file(), `${megabytes}`];
    const child = await runChild('../../knowledge/children/large-records.mjs', args);
    expect(child).toMatchObject({ code: 0, output: '' });
    const { peak, bytes, records } = child.messages[0] as { peak: number; bytes: number; records: number };
    console.log(
      `${records} records, ${bytes} bytes, peak ${peak} bytes: ${(peak / bytes).toFixed(2)} times the file`,
    );
    expect(peak / bytes).toBeLessThan(2.5);
  },
  600_000,
);
