/** Speech that espeak-ng makes. */
import { execFileSync } from 'node:child_process';

/** Samples per second of espeak-ng. */
export const espeakRate = 22_050;

/** Whether espeak-ng is there; prints the reason for leaving tests out if not. `what` names them. */
export function haveEspeak(what: string): boolean {
  try {
    execFileSync('espeak-ng', ['--version']);
    return true;
  } catch {
    console.log(`left out: ${what}; espeak-ng is not installed`);
    return false;
  }
}

/** What espeak-ng says, at its rate. */
export function said(text: string): Int16Array {
  const wav = execFileSync('espeak-ng', ['-v', 'en-us', '-s', '140', '--stdout', text]);
  const body = wav.subarray(44);
  return Int16Array.from({ length: body.length >> 1 }, (_, i) => body.readInt16LE(2 * i));
}
