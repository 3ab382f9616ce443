import type { ServerFrames, SessionFields } from './frames.js';

type History = NonNullable<SessionFields<'CreateAgentRequest'>['history']>;
type HistoryTurn = History['turns'][number];

/** Maximum number of turns kept for an agent that may have to be made again. */
const maxTurns = 1000;

/** The turns of an agent as its server remembers them, so that they survive the connection. */
export class RememberedTurns {
  #turns: HistoryTurn[];

  constructor(earlier: History | undefined) {
    this.#turns = [...(earlier?.turns ?? [])].slice(-maxTurns);
  }

  add(
    text: string,
    { status, text: reply, action }: ServerFrames['TurnComplete'],
    actionResult: unknown,
  ): void {
    if (status === 'failed' || (status === 'cancelled' && reply === '')) return;
    const turn: HistoryTurn = { text, reply };
    if (action !== undefined) turn.action = { name: action.name, arguments: action.arguments };
    if (actionResult !== undefined) turn.actionResult = actionResult;
    this.#turns.push(turn);
    if (this.#turns.length > maxTurns) this.#turns.shift();
  }

  /** Replaces them by those of a history. */
  reset({ turns }: History): void {
    this.#turns = turns.slice(-maxTurns);
  }

  get history(): History {
    return { version: 1, turns: [...this.#turns] };
  }
}
