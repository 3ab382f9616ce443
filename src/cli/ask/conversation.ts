import { createInterface } from 'node:readline';
import { onAbort } from '../../lifecycle/on-abort.js';

/**
 * Asks line by line: on a terminal with a prompt, else every line of stdin. Blank lines are skipped. Ends with the
 * input (Ctrl-D). `answer` may reject: the next line is asked all the same if `onFailure` returns.
 */
export async function converse(
  answer: (question: string) => Promise<void>,
  onFailure: (error: unknown, question: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal && { output: process.stdout, prompt: '> ', historySize: 100 }),
    terminal: isTerminal,
  });
  // readline takes Ctrl-C from a terminal in raw mode; the process gets it as a signal.
  lines.on('SIGINT', () => {
    process.stdout.write('\n');
    process.kill(process.pid, 'SIGINT');
  });
  const stopListening = onAbort(signal, () => lines.close());
  try {
    if (isTerminal) lines.prompt();
    for await (const line of lines) {
      const question = line.trim();
      if (question !== '') await answer(question).catch((error) => onFailure(error, question));
      signal.throwIfAborted();
      if (isTerminal) lines.prompt();
    }
    signal.throwIfAborted();
    if (isTerminal) process.stdout.write('\n');
  } finally {
    stopListening();
    lines.close();
  }
}
