import { stat } from 'node:fs/promises';
import { modelBytes } from '../../base/files/model-parts.js';
import { readHead } from '../../base/files/read-head.js';
import { commandName, shellWord } from '../../base/schema/shell-word.js';
import { kindNames, kindOf } from '../check/kind.js';
import { exitStatus } from '../exit-status.js';
import { CommandError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { requireFile } from '../knowledge-base-file.js';
import { print, printFailure, printJson } from '../output.js';
import { Screen } from '../terminal/screen.js';
import { describeIndexFile, describeModel, type InspectOptions } from './binary.js';
import { type Description, factLines } from './facts.js';
import { describeKnowledgeBase } from './knowledge-base.js';

export interface InspectFlags {
  verify: boolean;
  all?: boolean;
  json?: boolean;
}

/** `lorekeep inspect`: describes a file by its own headers. */
export async function inspect(file: string, flags: InspectFlags): Promise<void> {
  await requireFile(file, 'a file');
  await interruptible(async (signal) => {
    const description = await describe(file, { verify: flags.verify, signal });
    const { problems, data } = description;
    if (problems.length > 0) process.exitCode = exitStatus.failed;
    if (flags.json) return printJson({ file, ok: problems.length === 0, problems, ...data });
    for (const line of factLines(description, new Screen(process.stdout), flags.all === true)) print(line);
    for (const problem of problems) {
      const message = problem.startsWith(`${file}: `) ? problem : `${file}: ${problem}`;
      printFailure(new CommandError('CORRUPT', message));
    }
  });
}

async function describe(file: string, options: InspectOptions): Promise<Description> {
  const magic = await readHead(file, 4);
  if (magic === 'GGUF') return describeModel(file, options, modelBytes(file) ?? (await stat(file)).size);
  if (!/^[\ufeff\s]*[{[]/.test(magic)) return describeIndexFile(file, options);
  const kind = await kindOf(file);
  if (kind === 'knowledge-base') return describeKnowledgeBase(file, options);
  throw new CommandError(
    'UNSUPPORTED',
    `${file}: is a ${kindNames[kind]}: ${commandName()} check ${shellWord(file)} checks it`,
  );
}
