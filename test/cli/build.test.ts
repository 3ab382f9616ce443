import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { type CommandResult, noTerminal, onTerminal } from './command.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const withoutTerminal = noTerminal();
if (withoutTerminal !== undefined) console.log(`terminal tests skipped: ${withoutTerminal}`);

/** Enough that a build takes seconds on any machine. */
const manyRecords = JSON.stringify(
  Array.from({ length: 20_000 }, (_, i) => ({
    id: `r${i}`,
    text: `record ${i} of bees and honey. `.repeat(20),
  })),
);

describe('lorekeep build', () => {
  it('tells its phases line by line, and what it wrote on stdout', async () => {
    const kb = writeSample(inFolder);
    const { status, stdout, stderr } = await lorekeep(['build', kb]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^6 records in .*\nwrote .*kb\.index\nwrote .*kb\.bm25\n$/);
    expect(stderr).toMatch(
      /^reading: 6 records in .*\nembedding: 6 records in .*\nlinking: .*\nindexing words: .*\n$/,
    );
  });

  it('gives one JSON result and nothing else under --json', async () => {
    const kb = writeSample(inFolder);
    const { status, stdout, stderr } = await lorekeep(['build', kb, '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ records: 6, indexFile: inFolder('kb.index'), warnings: [] });
  });

  it('says why a cache of it was not written', async () => {
    const kb = writeSample(inFolder, { embeddings_file: 'records.json/kb.embeddings' });
    const { status, stderr } = await lorekeep(['build', kb]);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^lorekeep: warning: embeddings file not written: the texts are embedded again next time: .*records\.json\/kb\.embeddings: .*EEXIST/m,
    );
  });

  it('says what is missing when there is nothing to build, or nothing to build from', async () => {
    const kb = writeSample(inFolder, { index_file: undefined });
    expect((await lorekeep(['build', kb])).stderr).toContain('index_file: is missing');
    const broken = inFolder('broken.json');
    writeFileSync(broken, '{"embedding_model": "lorekeep-mini",}');
    const { status, stderr } = await lorekeep(['build', broken]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^lorekeep: .*broken\.json.*not valid JSON.*\n$/);
  });

  it.skipIf(process.platform === 'win32')(
    'leaves the old files when Ctrl-C comes, and exits with 130',
    async () => {
      const kb = writeSample(inFolder);
      await lorekeep(['build', kb]);
      const old = ['kb.index', 'kb.bm25'].map((name) => readFileSync(inFolder(name)));
      writeFileSync(inFolder('records.json'), manyRecords);
      const before = readdirSync(inFolder()).sort();
      let sent = false;
      const { status, stdout, stderr } = await lorekeep(['build', kb], {
        onOutput: (printed, child) => {
          if (sent || !printed.includes('reading:')) return;
          sent = true;
          child.kill('SIGINT');
        },
      });
      expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
      expect(stderr).toMatch(/lorekeep: interrupted\n$/);
      expect(readdirSync(inFolder()).sort()).toEqual(before);
      expect(['kb.index', 'kb.bm25'].map((name) => readFileSync(inFolder(name)))).toEqual(old);
    },
  );

  it.skipIf(withoutTerminal)(
    'draws a bar with rate and time left on a terminal, and gives it back on Ctrl-C',
    async () => {
      const kb = writeSample(inFolder);
      writeFileSync(inFolder('records.json'), manyRecords);
      const { status, stdout }: CommandResult = await onTerminal(100, ['build', kb], [' left', '\\x03']);
      expect(status).toBe(130);
      expect(stdout).toMatch(/embedding +\[=* *\] \d+ % +[\d,]+\/20,000 +[\d,]+\/s +.* left/);
      // Line wrapping is on again, and the message is on a line of its own.
      expect(stdout.lastIndexOf('\u001b[?7h')).toBeGreaterThan(stdout.lastIndexOf('\u001b[?7l'));
      expect(stdout).toMatch(/\nlorekeep: interrupted\r\n$/);
    },
  );

  it('is what search and inspect then find', async () => {
    const kb = writeSample(inFolder);
    expect((await lorekeep(['build', kb])).status).toBe(0);
    expect((await lorekeep(['search', kb, 'honey', '--top-k', '1'])).stdout).toMatch(/^1 .* honey /m);
    expect(statSync(inFolder('kb.index')).size).toBeGreaterThan(0);
  });
});
