// An option is defined once: one that is added to a definition has its type, check, number, field, flag, path and table row
// without another line, and few files name the options that there are.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Options } from '../../lib/boundary/option.js';
import { optionNumber, optionsCheck } from '../../lib/boundary/option-numbers.js';
import { samplingNumbers } from '../../lib/boundary/options.gen.js';
import { samplingOptions } from '../../lib/generation/sampling-options.js';
import { rankingOptions } from '../../lib/search/options.js';
import { addOptionFlags, givenOptions } from '../../src/cli/flags/options.js';
import { configFields, frameFields } from '../../src/search/option-fields.js';
import { fromFields, pathOf, toFields } from '../../src/search/option-names.js';

const root = join(import.meta.dirname, '../..');
const { fieldsTable } = await import(join(root, 'scripts/docs/schema-tables.mjs'));
const { loadDefinitions, optionTypes, reader, writer } = await import(
  join(root, 'scripts/layouts/options.mjs')
);

const added = {
  kind: 'integer',
  min: 1,
  max: 9,
  text: 'Tries of a search, up to `top_k`.',
  usual: 2,
  modes: ['hybrid'],
  config: true,
  flag: '<n>',
  native: true,
} as const;
const search: Options = { ...rankingOptions, mostTries: added };
const sampling: Options = { ...samplingOptions, mostTries: { ...added, config: undefined } as never };

describe('an option that is added', () => {
  it('has its check', () => {
    const message = 'mostTries: an integer from 1 to 9 is expected, not 10';
    expect(() => optionsCheck(search)({ mostTries: 10 })).toThrow(message);
    expect(optionNumber('mostTries', added, 9)).toBe(9);
  });

  it('has its types, and its number for C++ with name, default and range on both sides', async () => {
    const definitions = await loadDefinitions();
    const shape = { name: 'Some', fields: 'SomeFields', comment: 'Some.' };
    const types = optionTypes(definitions, [{ options: search, ...shape }]);
    expect(types).toContain(
      '/** Tries of a search, up to `topK`. 1 to 9, default 2. */\n  mostTries?: number',
    );
    expect(types).toContain('  most_tries?: number | undefined;');
    const { length } = samplingNumbers({});
    const numbers = { options: sampling, outer: ['sampling'] };
    expect(writer(definitions, { ...numbers, name: 'f', from: 'o', type: 'T' })).toContain(
      "given.mostTries === undefined ? 2 : optionNumber('sampling.mostTries', o.mostTries, given.mostTries),\n  ];",
    );
    expect(reader(definitions, { ...numbers, struct: 'lm::SamplingOptions' })).toContain(
      `read_number(numbers[${length}], {"sampling.mostTries", 1, 9}, to.most_tries);\n}`,
    );
  });

  it('is a field of frames and configs, with its range, default and description', () => {
    const frame = z.strictObject(frameFields<{ most_tries?: number }>(search));
    expect(frame.parse({ most_tries: 9 })).toEqual({ most_tries: 9 });
    expect(frame.safeParse({ most_tries: 10 }).success).toBe(false);
    expect(fieldsTable(frame)).toContain(
      "| most_tries | integer, 1 to 9 | optional | Tries of a search, up to `top_k`. Default: the knowledge base's, else 2. |",
    );
    expect(Object.keys(configFields(search))).toContain('most_tries');
    expect(Object.keys(frameFields(sampling))).toContain('most_tries');
  });

  it('has names in frames, in errors and on the command line', () => {
    expect(fromFields(search, { most_tries: 3, other: 1 })).toEqual({ mostTries: 3 });
    expect(toFields(search, { mostTries: 3 })).toEqual({ most_tries: 3 });
    expect(pathOf(search, 'mostTries')).toBe('most_tries');
    const command = addOptionFlags(new Command(), search);
    const flags = command.parse(['--most-tries', '4', '--top-k', '1'], { from: 'user' }).opts();
    expect(givenOptions(search, flags)).toEqual({ mostTries: 4, topK: 1 });
    expect(command.helpInformation().replace(/\s+/g, ' ')).toContain(
      "--most-tries <n> tries of a search, up to --top-k, 1 to 9 (default: the knowledge base's, else 2)",
    );
  });
});

/** The hand-written files of lib/, src/ and native/ that name an option. */
function filesNaming(names: RegExp): string[] {
  return ['lib', 'src', 'native']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter(
          (entry) => entry.isFile() && /\.(ts|cts|h|cc)$/.test(entry.name) && !/\.gen\./.test(entry.name),
        )
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))
        .filter((file) => !file.startsWith(join('native', 'vendor')))
        .filter((file) => names.test(readFileSync(join(root, file), 'utf8'))),
    )
    .sort();
}

describe('the files that name an option are its definition and the places where it acts', () => {
  it.each([
    [
      /\b(topP|top_p)\b/,
      [
        'lib/generation/sampling-options.ts',
        'native/lm/sampling/sampling.cc',
        'native/lm/sampling/sampling.h',
        // The shape of OpenAI, which has fields and ranges of its own.
        'src/doors/openai/fields.ts',
        'src/doors/openai/response.ts',
        'src/models/remote/chat-request.ts',
      ],
    ],
    [
      /\b(contextField|context_field)\b/,
      [
        'lib/search/options.ts',
        'src/knowledge/result-options.ts',
        'src/knowledge/search-storages.ts',
        'src/knowledge/searchable.ts',
      ],
    ],
  ])('%s', (names, files) => {
    expect(filesNaming(names)).toEqual(files);
  });
});
