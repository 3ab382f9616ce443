import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/helpers/folder.js';
import { attackList } from '../reliability/attacks/list.mjs';

const child = join(import.meta.dirname, 'children', 'ledgers.mjs');

const folder = temporaryFolder();

it('counts nothing any more once the attackers have gone, whatever the attack, and lives on in a small heap', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [child, folder()], { maxBuffer: 1e8 });
  const seen = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(seen.filter(({ left, running }) => !running || Object.keys(left).length > 0)).toEqual([]);
  expect(seen).toHaveLength(attackList.filter(({ door }) => !door).length - 1);
}, 900_000);
