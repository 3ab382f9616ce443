/** Pictures and scanned pages, read by tesseract. Programs stand in for it and for pdftoppm, so that it need not be installed. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pdfOf } from '../documents/pdf-file.js';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';

const file = temporaryFolder();
const lorekeep = commandHost();

/** The first bytes of a PNG file, and what the stand-in for tesseract says of it. */
const picture = (text: string) => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(text)]);

/** Makes a folder of programs that comes before the others of the system. */
function programs(name: string, scripts: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  mkdirSync(file(name), { recursive: true });
  for (const [program, script] of Object.entries(scripts)) {
    writeFileSync(file(name, program), `#!/bin/sh\n${script}\n`);
    chmodSync(file(name, program), 0o755);
  }
  const PATH = `${file(name)}:/bin:/usr/bin`;
  return { PATH, LOREKEEP_STATE: file('state', name) };
}

const listing = '[ "$1" = --list-langs ] && printf \'List of languages (2):\\neng\\nosd\\n\' && exit 0';
/** Says what comes after the first 8 bytes of a picture. */
const saying = `${listing}\ntail -c +9`;
/** Draws a page as a picture with its number. */
const drawing =
  'cat > /dev/null\nprintf \'\\211PNG\\r\\n\\032\\nScanned page %s of long-\\nterm plans.\\f\' "$2"';

const fake = () => programs('programs', { tesseract: saying, pdftoppm: drawing });

function makeDocuments(name: string): string {
  mkdirSync(file(name), { recursive: true });
  writeFileSync(file(name, 'a.md'), '# Bees\n\nBees dance.');
  writeFileSync(file(name, 'lamp.png'), picture('The lamp of Anna Holm.\f'));
  writeFileSync(
    file(name, 'two.tif'),
    Buffer.concat([Buffer.from('II*\0xxxx'), Buffer.from('First.\fSecond.\f')]),
  );
  writeFileSync(file(name, 'scan.pdf'), pdfOf([['A page with text.'], [], []]));
  return file(name);
}

async function indexed(folder: string, flags: readonly string[], env: NodeJS.ProcessEnv) {
  const args = ['index', folder, '--model', 'lorekeep-mini', '--json', ...flags];
  const { stdout, stderr, status } = await lorekeep(args, { env });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** The records file of an index. */
const recordsOf = ({ config }: { config: string }): { id: string; text: string }[] =>
  JSON.parse(readFileSync(config.replace(/kb\.json$/, 'records.json'), 'utf8'));

test.skipIf(process.platform === 'win32')(
  'the flag that reads pictures and scanned pages is named, and reads them once',
  async () => {
    const docs = makeDocuments('docs');
    const env = fake();
    const without = await indexed(docs, [], env);
    expect(without.records).toBe(2);
    expect(without.leftOut).toEqual([
      { ending: '.png', files: 1, flag: '--ocr' },
      { ending: '.tif', files: 1, flag: '--ocr' },
    ]);
    expect(without.problems).toEqual([
      { path: 'scan.pdf', reason: 'pages 2-3 have no text; if they are scanned, --ocr reads them' },
    ]);
    const { stderr } = await lorekeep(['index', docs, '--model', 'lorekeep-mini'], { env });
    expect(stderr).toContain('--ocr reads the text of pictures: .png, .tif');
    const found = await indexed(docs, ['--ocr'], env);
    expect(found).toMatchObject({ leftOut: [], problems: [], read: 4 });
    expect(Object.fromEntries(recordsOf(found).map(({ id, text }) => [id, text]))).toMatchObject({
      'lamp.png': 'The lamp of Anna Holm.',
      'two.tif#page=1': 'First.',
      'two.tif#page=2': 'Second.',
      'scan.pdf#page=2': 'Scanned page 2 of long-term plans.',
      'scan.pdf#page=3': 'Scanned page 3 of long-term plans.',
    });
    expect(await indexed(docs, ['--ocr'], env)).toMatchObject({ read: 0, embedded: 0, problems: [] });
  },
);

test.skipIf(process.platform === 'win32')(
  'what is needed for OCR and missing is named with the command that installs it, and files are read again once it is there',
  async () => {
    const docs = makeDocuments('needs');
    const env = programs('nothing', { tesseract: 'exit 127', pdftoppm: 'exit 127' });
    const { problems } = await indexed(docs, ['--ocr'], env);
    const reason = 'OCR needs tesseract: apt install tesseract-ocr; on macOS: brew install tesseract';
    expect(problems).toEqual([
      { path: 'lamp.png', reason },
      { path: 'scan.pdf', reason: `pages 2-3: ${reason}` },
      { path: 'two.tif', reason },
    ]);
    writeFileSync(file('nothing', 'tesseract'), `#!/bin/sh\n${saying}\n`);
    const half = await indexed(docs, ['--ocr'], env);
    expect(half.problems).toEqual([
      {
        path: 'scan.pdf',
        reason: 'pages 2-3: OCR needs pdftoppm: apt install poppler-utils; on macOS: brew install poppler',
      },
    ]);
    writeFileSync(file('nothing', 'pdftoppm'), `#!/bin/sh\n${drawing}\n`);
    expect(await indexed(docs, ['--ocr'], env)).toMatchObject({ read: 1, problems: [] });
  },
);

test.skipIf(process.platform === 'win32')(
  'languages are checked, and a list of files is no picture',
  async () => {
    mkdirSync(file('languages'));
    writeFileSync(file('languages', 'a.md'), 'Bees dance.');
    writeFileSync(file('languages', 'list.png'), '/etc/passwd\n');
    writeFileSync(file('languages', 'lamp.png'), picture('Lamp.'));
    const folder = file('languages');
    const { problems } = await indexed(folder, ['--ocr', '--ocr-language', 'eng+deu_frak'], fake());
    expect(problems.map(({ reason }: { reason: string }) => reason)).toEqual([
      expect.stringMatching(/^tesseract has no language "deu_frak": apt install tesseract-ocr-deu-frak;/),
      expect.stringMatching(/^tesseract has no language "deu_frak"/),
    ]);
    const english = await indexed(folder, ['--ocr', '--ocr-language', 'eng'], fake());
    expect(english.problems).toEqual([
      { path: 'list.png', reason: 'is not an image of a kind that is read' },
    ]);
    const refused = [
      [['--ocr-language', 'eng'], '--ocr-language: it has no effect without --ocr'],
      [
        ['--ocr', '--ocr-language', 'eng; rm'],
        '--ocr-language: codes of languages joined by "+" are expected',
      ],
    ] as const;
    for (const [flags, message] of refused) {
      const { status, stderr } = await lorekeep(['index', folder, ...flags], { env: fake() });
      expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  },
);

test.skipIf(process.platform === 'win32')('Ctrl-C ends the programs with the run', async () => {
  mkdirSync(file('slow'));
  writeFileSync(file('slow', 'lamp.png'), picture('Lamp.'));
  const pid = file('pid');
  const env = programs('endless', {
    tesseract: `${listing}\necho $$ > ${pid}.new\nmv ${pid}.new ${pid}\nexec sleep 600`,
  });
  const running = lorekeep(['index', file('slow'), '--model', 'lorekeep-mini', '--ocr', '--json'], {
    env,
    stdin: '',
    onStart: (child) => {
      const timer = setInterval(() => {
        if (!existsSync(pid)) return;
        clearInterval(timer);
        child.kill('SIGINT');
      }, 20);
    },
  });
  expect((await running).status).toBe(130);
  const program = Number(readFileSync(pid, 'utf8'));
  await expect.poll(() => isRunning(program)).toBe(false);
});

/** Whether a process runs; one that ended and was not waited for does not. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}
