import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { exitStatusHelp } from '../exit-status.js';
import { UsageError } from '../failure.js';
import { addModelFlags } from '../flags/model.js';
import type { IndexFlags } from '../index-folder/index-folder.js';

export function addIndex(program: Command): void {
  const command = program
    .command('index')
    .description('Make or update the knowledge base of a folder of documents.')
    .usage('[options] [folder]')
    .argument('[folder...]', 'the folder (default: the current one)')
    .option('--include <pattern...>', 'files to index, such as "*.md" (default: every known ending)')
    .option('--exclude <pattern...>', 'files and folders to leave out, such as "drafts/"')
    .option('--no-gitignore', 'index files that .gitignore excludes, too')
    .option(
      '--mapping <json>',
      'columns of CSV and JSON Lines: an object, or @FILE (docs/guides/indexing.md)',
    )
    .option('--model <name>', 'embedding model of the catalog (default: that of the index, else by language)')
    .option('--chunk-size <n>', 'maximum characters of a record (default: 1200)', integer(200, 100_000))
    .option('--ocr', 'also read pictures and scanned pages of PDFs, by tesseract')
    .option(
      '--ocr-language <codes>',
      'languages of the scans, such as eng+deu (default: eng if it is installed)',
    )
    .option('--readability', 'index only the main text of web pages, as a reader view shows it')
    .option('--watch', 'keep the index current until Ctrl-C')
    .option(
      '--poll <seconds>',
      'with --watch: time between two looks at the whole folder (default: 5 on network file systems, else 300)',
      integer(1, 86_400),
    )
    .option(
      '--keep-embeddings <days>',
      'how long embeddings outlive their texts at least (default: 30)',
      integer(0, 3650),
    )
    .option('--forgotten', 'also index texts that were forgotten')
    .option('--output <folder>', "where to write the knowledge base (default: the user's data folder)");
  addModelFlags(command)
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', indexHelp)
    .action(async (folders: string[], flags: IndexFlags) => {
      const folder = await namedFolder(folders, flags);
      const { indexCommand } = await import('../index-folder/index-folder.js');
      await indexCommand(folder, flags);
    });
}

/**
 * Returns the folder. A variadic option takes the words after it, so the last one of several is the folder if it names one.
 * @throws UsageError
 */
async function namedFolder(folders: readonly string[], flags: IndexFlags): Promise<string> {
  if (folders.length > 0) return oneFolder(folders);
  for (const name of ['include', 'exclude'] as const) {
    const words = flags[name] ?? [];
    const last = words.at(-1);
    if (words.length < 2 || last === undefined || !(await isFolder(last))) continue;
    if (name === 'exclude' && (await isFolder(words[0] as string)))
      throw new UsageError(
        `name the folder before --exclude: lorekeep index FOLDER --exclude ${words.join(' ')}`,
      );
    words.pop();
    return last;
  }
  return oneFolder(folders);
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** @throws UsageError for several words, which may be one name with spaces */
function oneFolder(folders: readonly string[]): string {
  if (folders.length > 1) {
    const name = folders.join(' ');
    throw new UsageError(
      `one folder is expected; put quotes around a name with spaces: lorekeep index "${name}"`,
    );
  }
  return folders[0] ?? '.';
}

const indexHelp = `
Examples:
  lorekeep index docs && lorekeep search "how do I install it?"
  lorekeep index docs --watch
  lorekeep index notes --include "*.md" "*.txt" --exclude "drafts/"
  lorekeep index data --mapping '{"text": "body", "title": "name", "fields": {"year": "int"}}'

Indexes Markdown, HTML, text, source code, notebooks, office files, books, JSON, PDF, JSON Lines and CSV. A second run
reads only changed files and embeds only changed text. Patterns have the grammar of .gitignore.
${exitStatusHelp}`;
