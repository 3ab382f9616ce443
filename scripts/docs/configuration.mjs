// The generated places of docs/reference/configuration.md and docs/reference/cli.md.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { root } from '../tool/project.mjs';

/** By file of docs/, then by the name of the place. `load` imports a module of dist/src. */
export async function configurationPlaces(load) {
  const { configFields } = await load('config/fields.js');
  const { configFlags } = await load('config/flags.js');
  const { isReread } = await load('config/reread.js');
  const { otherVariables } = await load('config/variables.js');
  const { commandFailures } = await load('cli/failure-codes.js');
  const { errorCodes } = await import(
    pathToFileURL(join(root, 'dist', 'lib', 'boundary', 'error-details.js')).href
  );
  return {
    'reference/configuration.md': {
      fields: fieldsTable(configFields, configFlags, isReread),
      flags: flagsTable(configFlags),
      variables: table(
        ['Variable', 'Meaning'],
        Object.entries(otherVariables).map(([name, meaning]) => [`\`${name}\``, meaning]),
      ),
    },
    'reference/cli.md': { failures: failuresTable({ ...commandFailures, ...errorCodes }) },
  };
}

function fieldsTable(fields, flags, isReread) {
  const head = ['Field', 'Type', 'Default', 'Range', 'Meaning', 'Flag, variable'];
  return table(
    head,
    fields.map((field) => cells(field, flags, isReread)),
  );
}

function flagsTable(flags) {
  const rows = flags.map(({ flag, variable, field }) => [
    `\`${flag}\``,
    `\`${variable}\``,
    field === undefined ? 'the config file' : `\`${field.path}\``,
  ]);
  return table(['Flag', 'Variable', 'Overrides'], rows);
}

function failuresTable(codes) {
  const rows = Object.entries(codes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  const server = '| a number, such as `8003` | the server refused: [errors](errors.md) has its number |';
  return ['| Code | Meaning |', '| --- | --- |', ...rows, server].join('\n');
}

function cells(field, flags, isReread) {
  const json = z.toJSONSchema(field.schema, { io: 'input', unrepresentable: 'any' });
  const { facts, path } = field;
  const flag = flags.find((candidate) => candidate.field === field);
  const notes = [
    json.description,
    isReread(path) && '*Reread on SIGHUP.*',
    facts.extension && '*Extension.*',
  ];
  return [
    `\`${path}\``,
    typeName(json),
    facts.computedDefault ?? (json.default === undefined ? '' : `\`${JSON.stringify(json.default)}\``),
    range(json),
    notes.filter(Boolean).join(' '),
    flag === undefined ? '' : `\`${flag.flag}\`, \`${flag.variable}\``,
  ];
}

function typeName({ type, anyOf }) {
  if (Array.isArray(anyOf)) return anyOf.map(typeName).join(' or ');
  return typeof type === 'string' ? type : 'any';
}

function range({ enum: values, minimum, maximum, minLength, anyOf }) {
  if (Array.isArray(anyOf)) return anyOf.map(range).filter(Boolean).join(', ');
  if (Array.isArray(values)) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (minimum !== undefined) return `${minimum} to ${maximum}`;
  return minLength === undefined ? '' : 'not empty';
}

function table(head, rows) {
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

const row = (texts) => `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
