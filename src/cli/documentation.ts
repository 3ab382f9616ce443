import { errorCodes } from '../../lib/index.js';
import { commandFailures } from './failure-codes.js';

/** The table of failure codes under --json in docs/cli.md, as Markdown. */
export function failuresTable(): string {
  const codes = Object.entries({ ...commandFailures, ...errorCodes });
  const rows = codes.map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  const server = '| a number, such as `8003` | the server refused: [errors.md](errors.md) has its number |';
  return ['| Code | Meaning |', '| --- | --- |', ...rows, server].join('\n');
}
