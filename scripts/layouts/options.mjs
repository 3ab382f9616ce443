// Texts that follow from the definitions of options in lib/: types of TypeScript, and the C++ that reads their numbers.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../tool/project.mjs';

/** Imports modules of lib/ that import nothing but each other, from their sources. */
export async function loadDefinitions() {
  const { outputFiles } = await build({
    stdin: {
      contents: `export * from './boundary/option.js';
export * from './search/options.js';
export * from './generation/sampling-options.js';`,
      resolveDir: join(root, 'lib'),
    },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'error',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

const camelCase = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The types of the tables, in the library's spelling and in that of frames. `interfaces`: table, name and comment of each. */
export function optionTypes({ snakeCase }, interfaces) {
  const named = new Map();
  const texts = interfaces.map(({ options, name, fields, comment }) =>
    [
      interfaceText(name, comment, members(options, { named, wire: undefined })),
      ...(fields === undefined
        ? []
        : [interfaceText(fields, `${comment} In frames.`, members(options, { named, wire: snakeCase }))]),
    ].join('\n'),
  );
  return [...named.values(), ...texts].join('\n');
}

const interfaceText = (name, comment, body) => `/** ${comment} */\nexport interface ${name} {\n${body}}\n`;

function members(options, context) {
  return Object.entries(options)
    .filter(([, { internal }]) => context.wire === undefined || !internal)
    .map(([name, option]) => {
      const text = context.wire === undefined ? libraryText(option) : option.text;
      const key = context.wire === undefined ? name : (option.field ?? context.wire(name));
      return `${docstring(text)}  ${key}?: ${typeOf(option, context)} | undefined;\n`;
    })
    .join('');
}

/** The text with the library's names, the range and the default. */
function libraryText({ text, kind, min, max, above, usual, best, otherwise }) {
  const told = [];
  const number = (value) => value.toLocaleString('en-US');
  if (kind === 'integer' || kind === 'number')
    told.push(above ? `above ${number(min)}, at most ${number(max)}` : `${number(min)} to ${number(max)}`);
  if (best !== undefined)
    told.push(`default ${best}, or ${usual ?? otherwise} for a config that does not say`);
  else if ((otherwise ?? usual) !== undefined) told.push(`default ${otherwise ?? usual}`);
  const facts = told.length === 0 ? '' : ` ${capital(told.join(', '))}.`;
  return `${text}${facts}`.replace(/`([a-z_]+)`/g, (_, name) => `\`${camelCase(name)}\``);
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

const widest = 116;

function docstring(text) {
  if (text.length + 8 <= widest) return `  /** ${text} */\n`;
  const lines = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + word.length + 6 > widest) lines.push(word);
    else lines[lines.length - 1] = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
  }
  return `  /**\n${lines.map((line) => `   * ${line}\n`).join('')}   */\n`;
}

const types = {
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  text: 'string',
  words: 'readonly string[]',
  groups: 'readonly (readonly string[])[]',
  factors: 'Readonly<Record<string, number>>',
};

function typeOf(option, context) {
  const { kind, choices, alone, fields, type, text } = option;
  if (kind === 'choice') return choices.map((name) => `'${name}'`).join(' | ');
  if (kind !== 'object')
    return alone !== undefined && context.wire === undefined ? 'boolean | number' : types[kind];
  if (context.wire !== undefined || type === undefined)
    return `{\n${members(fields, context).replace(/^/gm, '  ').trimEnd()}\n  }`;
  if (!context.named.has(type)) context.named.set(type, interfaceText(type, text, members(fields, context)));
  return type;
}

/**
 * The numbers that cross to C++, in their order: the member of each, and the options that it comes from, of which the first that
 * is given counts. `outer`: the object that holds the options.
 */
function slotsOf({ snakeCase }, options, outer = []) {
  const slots = new Map();
  const add = (fields, keys) => {
    for (const [key, option] of Object.entries(fields)) {
      const path = [...keys, key];
      if (option.fields !== undefined) add(option.fields, path);
      if (option.native === undefined) continue;
      const member = option.native === true ? snakeCase(key) : option.native;
      slots.set(member, [
        ...(slots.get(member) ?? []),
        { path, name: [...outer, ...path].join('.'), option },
      ]);
    }
  };
  add(options, []);
  return [...slots];
}

/** The function that reads the numbers of some options into a C++ struct. */
export function reader(definitions, { options, struct, outer }) {
  const slots = slotsOf(definitions, options, outer);
  const lines = slots.map(([member, [{ name, option }]], position) => {
    const [min, max] = bounds(option);
    return `  read_number(numbers[${position}], {"${name}", ${min}, ${max}}, to.${member});\n`;
  });
  return `/// NaN leaves a member as it is.
inline void read_numbers(std::span<const double> numbers, ${struct}& to) {
  expect_numbers(numbers, ${slots.length});
${lines.join('')}}
`;
}

/**
 * The function of TypeScript that gives the numbers of some options. `from`: the name of their definition. An option without a
 * number as its default takes the caller's.
 */
export function writer(definitions, { options, name, from, type, outer }) {
  const slots = slotsOf(definitions, options, outer);
  const lines = slots.map(([, givers]) => {
    const [{ option, path: first }] = givers;
    const value = (path) => path.join('?.');
    const number = ({ path, name: told }, of) =>
      `optionNumber('${told}', ${from}.${path.join('.fields.')}, ${of}.${value(path)})`;
    const last =
      typeof option.usual === 'number'
        ? String(option.usual)
        : `usual.${value(first)} === undefined ? Number.NaN : ${number(givers[0], 'usual')}`;
    return givers.reduceRight(
      (rest, giver) => `given.${value(giver.path)} === undefined ? ${rest} : ${number(giver, 'given')}`,
      last,
    );
  });
  const body = lines.map((line) => `    ${line},\n`).join('');
  const parameters = body.includes('usual.') ? `given: ${type}, usual: ${type}` : `given: ${type}`;
  return `/** Returns the numbers of the options for C++, checked; NaN for one that is left out and has no default. @throws INVALID_ARGUMENT */
export function ${name}(${parameters}): number[] {
  return [
${body}  ];
}
`;
}

function bounds({ kind, min, max, choices }) {
  if (kind === 'choice') return [0, choices.length - 1];
  return kind === 'boolean' ? [0, 1] : [min, max];
}
