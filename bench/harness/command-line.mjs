// Options of programs that are run by hand. A wrong option is one line and status 2, not a stack.
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

/** A wrong option. The message names it and says what is expected. */
export class OptionError extends Error {}

/** As parseArgs() of node:util; ends the process for a wrong option. */
export function commandLine(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    return refuseOption(`${firstSentence(error)}; the options are ${knownOptions(config.options)}`);
  }
}

/** The options, with their defaults. */
function knownOptions(options) {
  return Object.entries(options)
    .map(
      ([name, { default: value }]) => `--${name}${value === undefined || value === '' ? '' : ` (${value})`}`,
    )
    .join(', ');
}

/** Ends the process. @returns {never} */
export function refuseOption(problem) {
  process.stderr.write(`${basename(process.argv[1])}: ${problem}\n`);
  process.exit(2);
}

/** Without the advice that parseArgs() adds about arguments with a dash. */
const firstSentence = ({ message }) => message.split(/\.\s/)[0];
