/** Records that an action asks the client to have forgotten. */
export interface ForgetProposal {
  readonly node: string;
  readonly storage: string;
  readonly records: readonly { readonly id: string; readonly text: string }[];
  /** Milliseconds until it expires. */
  readonly confirmMs: number;
}

/** What a client confirms. */
export interface ForgetConfirmation {
  readonly ids: readonly string[];
  /** Whether turns that quote the records are removed from its histories. */
  readonly histories: boolean;
}

/** Asks the client. @throws the signal's reason */
export type AskToForget = (
  proposal: ForgetProposal,
  signal: AbortSignal,
) => Promise<ForgetConfirmation | 'expired'>;
