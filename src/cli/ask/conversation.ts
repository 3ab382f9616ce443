import { createInterface } from 'node:readline';
import { onAbort } from '../../lifecycle/on-abort.js';

/**
 * Answers each line of stdin, with a prompt on a terminal, until the input ends (Ctrl-D). Blank lines are skipped. If
 * `answer` rejects and `onFailure` returns, the next line is answered.
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
  // In raw mode readline consumes Ctrl-C, so it is raised as a signal again.
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
