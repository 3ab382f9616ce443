import { lstat, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileChecksum } from '../../base/files/checksum.js';
import { homeFolder } from '../../base/files/home.js';
import { shellWord } from '../../base/schema/shell-word.js';
import { Catalog } from '../../models/catalog.js';
import { knownModels } from '../../models/shipped-catalog.js';
import { CommandError, UsageError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { print, printJson } from '../output.js';
import { printable } from '../terminal/printable.js';
import { invocation } from './invocation.js';
import { NewFiles } from './new-files.js';
import { readme } from './readme.js';
import { sampleConfig, sampleQuestion, sampleRecords } from './sample.js';

export interface InitFlags {
  json?: boolean;
}

/** `lorekeep init`: creates a folder with a working config, catalog and knowledge base. */
export async function init(folder: string, flags: InitFlags): Promise<void> {
  if (folder === '') throw new UsageError('folder: a name is expected; . is the folder that you are in');
  await interruptible(async (signal) => {
    const models = await shippedModels();
    const run = invocation();
    const texts: [string, string][] = [
      ['models.json', json(await catalogOf(models, signal))],
      ['server-config.json', json(serverConfig)],
      [join('knowledge', 'harbour', 'records.json'), await readFile(sampleRecords, 'utf8')],
      [join('knowledge', 'harbour', 'kb.json'), json(sampleConfig)],
      ['README.md', readme(run, sampleQuestion)],
    ];
    const copies = models
      .flatMap(({ path, references }) => [path, ...references])
      .map((path) => [path, copyOf(path)] as const);
    await refuseToOverwrite(folder, [...copies.map(([, name]) => name), ...texts.map(([name]) => name)]);
    signal.throwIfAborted();
    const files = new NewFiles(folder);
    try {
      for (const [path, name] of copies) await files.copy(path, name);
      for (const [name, text] of texts) await files.write(name, text);
    } catch (error) {
      await files.remove();
      const { message } = error as Error;
      throw new CommandError('IO', `${folder}: cannot be written: ${message}`, { cause: error });
    }
    const next = nextCommands(folder, run);
    if (flags.json) return printJson({ folder: resolve(folder), files: files.names, next });
    print(`${printable(folder)}: a knowledge base, and a server for it`);
    for (const name of files.names) print(`  ${name}`);
    print('\nNext:');
    for (const command of next.slice(0, -1)) print(`  ${printable(command)}`);
    print('and while the server runs, in another terminal:');
    print(`  ${printable(next.at(-1) as string)}`);
  });
}

const serverConfig = {
  port: 9100,
  models_catalog_path: 'models.json',
  models_download_dir: 'models',
  storage_root: 'knowledge',
  logs_dir: 'logs',
  // `serve --http` opens the doors.
  http: { storages: { harbour: { config: 'knowledge/harbour/kb.json' } } },
};

/** The commands to try next. The last one is for another terminal and works in any folder. */
function nextCommands(folder: string, run: string): string[] {
  const question = `"${sampleQuestion}"`;
  const config = '--config server-config.json';
  return [
    `cd ${shellWord(folder)}`,
    `${run} build knowledge/harbour/kb.json ${config}`,
    `${run} search knowledge/harbour/kb.json ${question} ${config}`,
    `${run} serve ${config}`,
    `${run} ask harbour/kb.json ${question}`,
  ];
}

/** The models that are copied: that of the sample, and the one that finds speech. */
const copiedModels = [sampleConfig.embedding_model, 'Silero VAD'];

interface ShippedModel {
  path: string;
  /** Files that `lorekeep check` compares the model with: one, or none. */
  references: string[];
  /** The entry in the package's catalog. */
  entry: { variants: [{ reference?: { file: string } }] };
}

/** The place of a copy in the new folder; a catalog spells it with slashes. */
const copyOf = (path: string) => `models/${basename(path)}`;

/** The models in the package that are copied. @throws CommandError if the package lacks one */
async function shippedModels(): Promise<ShippedModel[]> {
  const file = join(homeFolder, 'data', 'models.json');
  const catalog = await Catalog.load(file);
  const written: { models: ({ name: string } & ShippedModel['entry'])[] } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  const shipped: ShippedModel[] = [];
  for (const name of copiedModels) {
    const entry = written.models.find((one) => one.name === name);
    const variant = catalog.find(name)?.variants.find((one) => one.file !== undefined);
    const path = variant?.file === undefined ? undefined : catalog.resolveFile(variant.file);
    const found = path === undefined ? undefined : await stat(path).catch(() => undefined);
    if (entry === undefined || path === undefined || found === undefined) {
      throw new CommandError(
        'NOT_FOUND',
        `${file}: the model ${name} is not there: put its file where the catalog says, or reinstall lorekeep`,
      );
    }
    const [{ reference }] = entry.variants;
    const references = reference === undefined ? [] : [catalog.resolveFile(reference.file)];
    shipped.push({ path, references, entry });
  }
  return shipped;
}

async function catalogOf(shipped: readonly ShippedModel[], signal: AbortSignal): Promise<object> {
  const models = [];
  for (const model of shipped) models.push(await copiedEntry(model, signal));
  const known = JSON.parse(await readFile(knownModels, 'utf8'));
  return { version: 1, models: [...models, ...known.models] };
}

async function copiedEntry({ path, entry }: ShippedModel, signal: AbortSignal): Promise<object> {
  const [{ reference, ...variant }] = entry.variants;
  const file = {
    ...variant,
    ...(reference === undefined ? {} : { reference: { ...reference, file: copyOf(reference.file) } }),
    file: copyOf(path),
    size_bytes: (await stat(path)).size,
    sha256: await fileChecksum(path, signal),
  };
  return { ...entry, variants: [file] };
}

/** @throws CommandError that names the existing file */
async function refuseToOverwrite(folder: string, names: readonly string[]): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found !== undefined && !found.isDirectory())
    throw new CommandError('EXISTS', `${folder}: is a file; a folder is expected`);
  const present: string[] = [];
  for (const name of names) {
    if (await lstat(join(folder, name)).catch(() => undefined)) present.push(name);
  }
  if (present.length === 0) return;
  throw new CommandError(
    'EXISTS',
    `${folder}: would overwrite ${present.join(', ')}: name another folder, or move them away`,
  );
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
