/** An expected failure: one line that names the culprit and what to do. Printed without a stack. */
export class Stop extends Error {}

/** Runs a script's body: a Stop becomes `name: message` on stderr and exit status 1; anything else keeps its stack. */
export async function runScript(name, body) {
  try {
    await body(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(
      error instanceof Stop ? `${name}: ${error.message}\n` : `${error?.stack ?? error}\n`,
    );
    process.exitCode = 1;
  }
}
