import { LorekeepError } from '../../lib/basics.js';
import { readText } from '../base/files/read-text.js';
import { describeIssue, type FieldIssue, lowerFirst, valueAt } from '../base/schema/field-issue.js';
import { JsonSyntaxError, JsonText, type TextPosition } from '../base/schema/json-text.js';
import { parseLenient } from '../base/schema/lenient.js';
import { configFields } from './fields.js';
import { configSchema, type ServerConfig } from './schema.js';
import { orStartupError } from './startup-error.js';

/** A problem in a config file. Errors prevent the server from starting, warnings do not. */
export interface ConfigProblem {
  severity: 'error' | 'warning';
  /** `file:line:column: field: expected value`; complete by itself. */
  message: string;
}

export interface ParsedConfig {
  /** The object in the file, unchecked. */
  written: object;
  /** With defaults, and paths as written; undefined if any problem is an error. */
  config: ServerConfig | undefined;
  problems: ConfigProblem[];
}

/** Reads a config file; undefined if it is absent. @throws StartupError that names the file */
export function readTextFile(path: string): Promise<string | undefined> {
  const text = readText(path).catch((error) => {
    if (error instanceof LorekeepError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  });
  return orStartupError(text);
}

/** Checks the text of a config file. `path` is used in messages. */
export function parseConfig(path: string, text: string): ParsedConfig {
  const at = ({ line, column }: TextPosition) => `${path}:${line}:${column}`;
  let json: JsonText;
  try {
    json = new JsonText(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const message = `${at(error.position)}: not valid JSON: ${error.message}`;
    return { written: {}, config: undefined, problems: [{ severity: 'error', message }] };
  }
  const shape = json.shapeProblem();
  if (shape !== undefined) {
    const message = `${path}${shape.place}: ${shape.what}`;
    return { written: {}, config: undefined, problems: [{ severity: 'error', message }] };
  }
  const parsed = parseLenient(configSchema, json.value);
  const describe = (severity: ConfigProblem['severity'], issues: readonly FieldIssue[], end: string) =>
    issues
      .map((issue) => ({ issue, position: json.positionOf(issue.keys) }))
      .sort((a, b) => a.position.line - b.position.line || a.position.column - b.position.column)
      .map(({ issue, position }) => ({
        severity,
        message: `${at(position)}: ${describeIssue(issue)}${end}`,
      }));
  const warnings = describe('warning', parsed.ignored, '; it has no effect');
  if (!parsed.ok) {
    const errors = describe('error', parsed.issues, '');
    return { written: {}, config: undefined, problems: [...errors, ...warnings] };
  }
  const written = json.value as object;
  return { written, config: parsed.value, problems: [...warnings, ...deprecations(written, json, at)] };
}

function deprecations(written: object, json: JsonText, at: (position: TextPosition) => string) {
  return configFields
    .filter(({ facts, keys }) => facts.deprecated && valueAt(written, keys) !== undefined)
    .map(({ keys, path, schema }): ConfigProblem => {
      const place = at(json.positionOf(keys));
      return { severity: 'warning', message: `${place}: ${path}: ${lowerFirst(schema.description ?? '')}` };
    });
}
