import type { TurnRecord } from '../../src/operations/monitor/turn-record.js';

/** Which turns the list shows. */
export interface TurnFilter {
  readonly status: string;
  readonly session: string;
  readonly client: string;
  /** In ms. */
  readonly least: number;
  readonly words: string;
}

export const everyTurn: TurnFilter = { status: '', session: '', client: '', least: 0, words: '' };

/** `s3.t14` is the 14th turn of the session `s3`. */
export const sessionOf = ({ turn }: Pick<TurnRecord, 'turn'>) => turn.split('.')[0] ?? '';

export function matches(turn: TurnRecord, { status, session, client, least, words }: TurnFilter): boolean {
  if (status !== '' && turn.status !== status) return false;
  if (session !== '' && sessionOf(turn) !== session) return false;
  if (client !== '' && turn.client !== client) return false;
  if (turn.queuedMs + turn.durationMs < least) return false;
  if (words === '') return true;
  const { message = '', failure, nodes } = turn;
  const text = [
    turn.turn,
    turn.agent,
    turn.client,
    message,
    failure?.name,
    failure?.message,
    ...nodes.map(({ type }) => type),
  ];
  return text.join('\n').toLowerCase().includes(words.toLowerCase());
}
