import { createInterface } from 'node:readline';
import type { ClientAgent, ForgetProposal } from '../../client/index.js';
import { ServerError } from '../../client/index.js';
import { note } from '../output.js';
import { printable } from '../terminal/printable.js';

/** Asks the user; undefined: there is no terminal. */
export type AskUser = (question: string, signal?: AbortSignal | undefined) => Promise<string | undefined>;

/** Asks on the terminal, outside a conversation. */
export const askOnTerminal: AskUser = async (question, signal) => {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<string>((resolve) => {
      lines.once('close', () => resolve(''));
      lines.question(question, { signal }, resolve);
    });
  } finally {
    lines.close();
  }
};

/** Shows the records that an agent asks to forget, and sends what the user says. Without a terminal nothing is forgotten. */
export async function answerForget(
  agent: ClientAgent,
  proposal: ForgetProposal,
  ask: AskUser,
  signal: AbortSignal | undefined,
): Promise<void> {
  note(`the agent asks whether it may forget, in ${printable(proposal.storage)}:`);
  for (const { text } of proposal.records) note(`  - ${printable(text)}`);
  const said = await ask('forget this? [y/N] ', signal);
  if (said === undefined) note('nothing is forgotten: there is no terminal to confirm it');
  try {
    await agent.confirmForget(proposal, /^y(es)?$/i.test(said?.trim() ?? ''), { signal });
  } catch (error) {
    // Too late.
    if (!(error instanceof ServerError)) throw error;
    note(error.message);
  }
}
