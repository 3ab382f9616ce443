import { z } from 'zod';
import { type ConfigField, configFields } from './fields.js';
import { configFlags } from './flags.js';
import { otherVariables } from './variables.js';

type JsonType = Partial<
  Record<'anyOf' | 'type' | 'minimum' | 'maximum' | 'enum' | 'default' | 'minLength' | 'description', unknown>
>;

/** The table of docs/configuration.md: one row per field, in Markdown. */
export function configurationTable(): string {
  const rows = configFields.map((field) => row(cells(field)));
  return [
    row(['Field', 'Type', 'Default', 'Range', 'Meaning', 'Flag, variable']),
    row(Array(6).fill('---')),
    ...rows,
  ].join('\n');
}

/** The table of flags and environment variables. */
export function flagsTable(): string {
  const rows = configFlags.map(({ flag, variable, field }) =>
    row([`\`${flag}\``, `\`${variable}\``, field === undefined ? 'the config file' : `\`${field.path}\``]),
  );
  return [row(['Flag', 'Variable', 'Beats']), row(Array(3).fill('---')), ...rows].join('\n');
}

/** The table of the variables that stand for no flag. */
export function variablesTable(): string {
  const rows = Object.entries(otherVariables).map(([name, meaning]) => row([`\`${name}\``, meaning]));
  return [row(['Variable', 'Meaning']), row(Array(2).fill('---')), ...rows].join('\n');
}

function cells(field: ConfigField): string[] {
  const json = z.toJSONSchema(field.schema, { io: 'input', unrepresentable: 'any' }) as JsonType;
  const { facts, path } = field;
  const flag = configFlags.find((candidate) => candidate.field === field);
  const notes = [
    json.description as string,
    facts.later && `*No effect yet: ${facts.later}.*`,
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

function typeName({ type, anyOf }: JsonType): string {
  if (Array.isArray(anyOf)) return anyOf.map(typeName).join(' or ');
  return typeof type === 'string' ? type : 'any';
}

function range({ enum: values, minimum, maximum, minLength, anyOf }: JsonType): string {
  if (Array.isArray(anyOf)) return anyOf.map(range).filter(Boolean).join(', ');
  if (Array.isArray(values)) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (minimum !== undefined) return `${minimum} to ${maximum}`;
  return minLength === undefined ? '' : 'not empty';
}

const row = (texts: readonly string[]) =>
  `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
