import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Storage } from '../../lib/index.js';

test('calls that begin as others end are settled in later turns of the event loop', async () => {
  const chains = 8;
  const length = 500;
  const storage = await Storage.build([{ id: 'a', text: 'bee' }], Float32Array.of(1, 0), 2);
  let settled = 0;
  let ended = 0;
  const chain = async () => {
    for (let call = 0; call < length; call++) {
      await storage.embedding('absent');
      settled++;
    }
    ended++;
  };
  const all = Promise.all(Array.from({ length: chains }, chain));
  let most = 0;
  while (ended < chains) {
    const before = settled;
    await turn();
    most = Math.max(most, settled - before);
  }
  await all;
  await storage.close();
  expect(settled).toBe(chains * length);
  // A call of each chain before the event loop polls, and two while it does.
  expect(most).toBeLessThanOrEqual(3 * chains);
});
