/** An expected failure: one line that names the culprit and what to do. Printed without a stack. */
export class Stop extends Error {}

/** Runs a script's body: a Stop, or a wrong option, becomes `name: message` on stderr and exit status 1; anything else keeps its stack. */
export async function runScript(name, body) {
  try {
    await body(process.argv.slice(2));
  } catch (error) {
    const isExpected = error instanceof Stop || error?.code?.startsWith?.('ERR_PARSE_ARGS');
    process.stderr.write(isExpected ? `${name}: ${error.message}\n` : `${error?.stack ?? error}\n`);
    process.exitCode = 1;
  }
}
