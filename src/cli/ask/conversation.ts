import { createInterface } from 'node:readline';
import { onAbort } from '../../../lib/on-abort.js';

export interface Conversation {
  /** Answers a line; false ends the conversation. */
  answer(question: string): Promise<unknown>;
  /** Called if answer() rejects. If it returns, the next line is answered. */
  onFailure(error: unknown, question: string): void;
  /** Called for Ctrl-C on a terminal; true: it is dealt with. Default: Ctrl-C interrupts the process. */
  onInterrupt?: () => boolean;
}

/** Answers each line of stdin, with a prompt on a terminal, until the input ends (Ctrl-D). Blank lines are skipped. */
export async function converse(
  { answer, onFailure, onInterrupt = () => false }: Conversation,
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
  const stopListening = onAbort(signal, () => lines.close());
  try {
    if (isTerminal) lines.prompt();
    for await (const line of lines) {
      const question = line.trim();
      const goesOn =
        question === '' || (await answer(question).catch((error) => onFailure(error, question))) !== false;
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
