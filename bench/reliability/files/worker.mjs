// argv: folder, seed, loader's name, first case, one past the last, path of the mender ('' for none). Mutates files and loads each; case n
// follows from seed, loader and n. The number of the case at work is in the file `case`, so that a crash names its own. Sends
// {tried, refused, same, other, mended, problems} at the end.
import { openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../random.mjs';
import { Sample } from '../sample.mjs';
import { loadersFor, refusal } from './loaders.mjs';
import { Mender } from './mender.mjs';
import { mutated } from './mutation.mjs';

const [folder, seed, name, from, to, menderPath] = process.argv.slice(2);
const sample = await new Sample(join(folder, 'kb'), { seed: Number(seed), records: 20 }).write();
await sample.build();
await sample.build('plain.json');
/** Most memory that the process may ever take, in MiB: the files have a few hundred KiB. */
const maxPeakMib = 1024;

const loaders = await loadersFor(sample, name);
if (name === '') {
  process.send(loaders.map(({ name: own, weight }) => ({ name: own, weight })));
  process.disconnect();
} else {
  await runAll(loaders.find((loader) => loader.name === name));
}

async function runAll(loader) {
  const mender = menderPath && loader.sealed ? new Mender(menderPath) : undefined;
  const progress = openSync(join(folder, 'case'), 'w');
  const counts = { tried: 0, refused: 0, same: 0, other: 0, mended: 0, problems: [] };
  const known = new Set(readdirSync(sample.folder));
  for (let n = Number(from); n < Number(to); n++) {
    writeSync(progress, `${n}\n`.padStart(12), 0);
    await runOne(loader, n, mender, counts);
    if (n % 500 === 0) removeOthers(known);
  }
  mender?.close();
  const peakMib = Math.round(process.resourceUsage().maxRSS / 1024);
  if (peakMib > maxPeakMib)
    counts.problems.push({ case: Number(to) - 1, what: `memory grew to ${peakMib} MiB` });
  process.send(counts, () => process.exit(0));
}

async function runOne(loader, n, mender, counts) {
  const random = new Random(hash(`${seed} ${loader.name} ${n}`));
  const source = random.below(loader.sources.length);
  const own = loader.sources[source];
  let bytes = mutated(
    own.bytes,
    loader.sources.map(({ bytes: other }) => other),
    random,
    loader.text,
  );
  const mended = mender !== undefined && n % 2 === 1;
  if (mended) bytes = await mender.mend(bytes);
  const path = sample.at(loader.file ?? 'mutated');
  writeFileSync(path, bytes);
  counts.tried++;
  if (mended) counts.mended++;
  const problem = (what) => counts.problems.push({ case: n, what });
  try {
    const answer = await loader.load(path, source);
    if (answer === own.answer) counts.same++;
    else {
      counts.other++;
      const wrong =
        loader.sealed && !mended ? 'answers otherwise than the file that it was' : loader.check(answer);
      if (wrong !== undefined) problem(wrong);
    }
  } catch (error) {
    counts.refused++;
    if (loader.never && !mended && isOurs(bytes, own.bytes)) problem(`refused: ${error.message}`);
    else if (!refusal(error))
      problem(`not a clean refusal: ${error.code ?? ''} ${error.stack}`.slice(0, 400));
  }
}

/** Whether a file is still of our kind by its magic or by the mark at its end; zeros are as good. Others must stay. */
function isOurs(bytes, source) {
  const [magic, mark] = [8, 48];
  const beginning = bytes.subarray(0, magic);
  return (
    beginning.equals(source.subarray(0, beginning.length)) ||
    (bytes.length === source.length && bytes.subarray(-mark).equals(source.subarray(-mark))) ||
    bytes.every((byte) => byte === 0)
  );
}

/** Files that a mutated config wrote elsewhere. */
function removeOthers(known) {
  for (const other of readdirSync(sample.folder)) {
    if (!known.has(other) && !['mutated', 'own.bm25', 'r.json'].includes(other))
      rmSync(sample.at(other), { recursive: true, force: true });
  }
}

function hash(text) {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}
