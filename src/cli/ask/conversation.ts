import { createInterface } from 'node:readline';
import { onAbort } from '../../../lib/basics.js';
import { exitStatus } from '../exit-status.js';
import { failureReport } from '../failure.js';
import { printFailure, printJsonLine } from '../output.js';
import type { AskUser } from './forget-answer.js';

export interface Conversation {
  /** Answers a line; false ends the conversation. `ask` asks the user for another line. */
  answer(question: string, ask: AskUser): Promise<unknown>;
  /** Whether a failed question is also printed as JSON. */
  json: boolean | undefined;
  /** Called for Ctrl-C on a terminal; true: it is dealt with. Default: Ctrl-C interrupts the process. */
  onInterrupt?: () => boolean;
}

/**
 * Answers each line of stdin, with a prompt on a terminal, until the input ends (Ctrl-D). Blank lines are skipped. A question that
 * fails does not end the conversation; the exit status shows it if the questions come from a program.
 * @throws ConnectionLostError; the signal's reason
 */
export async function converse(
  { answer, json = false, onInterrupt = () => false }: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal && { output: process.stdout, prompt: '> ', historySize: 100 }),
    terminal: isTerminal,
  });
  // In raw mode readline consumes Ctrl-C, so it is raised as a signal again.
  lines.on('SIGINT', () => {
    process.stdout.write('\n');
    if (onInterrupt()) return;
    process.kill(process.pid, 'SIGINT');
  });
  const ask: AskUser = async (text, aborted) => {
    if (!isTerminal) return undefined;
    return new Promise<string>((resolve) => {
      const end = () => resolve('');
      lines.once('close', end);
      aborted?.addEventListener('abort', end, { once: true });
      lines.question(text, { signal: aborted }, resolve);
    });
  };
  const stopListening = onAbort(signal, () => lines.close());
  try {
    if (isTerminal) lines.prompt();
    for await (const line of lines) {
      // trim() also removes a byte order mark.
      const question = line.trim();
      const fail = (error: Error) => {
        signal.throwIfAborted();
        reportFailure(error, question, json);
      };
      const goesOn = question === '' || (await answer(question, ask).catch(fail)) !== false;
      signal.throwIfAborted();
      if (!goesOn) return;
      if (isTerminal) lines.prompt();
    }
    signal.throwIfAborted();
    if (isTerminal) process.stdout.write('\n');
  } finally {
    stopListening();
    lines.close();
  }
}

/** @throws the error if the connection is lost */
function reportFailure(error: Error, question: string, json: boolean): void {
  if (error.name === 'ConnectionLostError') throw error;
  printFailure(error);
  if (json) printJsonLine({ question, ...failureReport(error) });
  if (!process.stdin.isTTY) process.exitCode = exitStatus.failed;
}
