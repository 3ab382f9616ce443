/** One thing that is wrong, or that is probably not as it was meant. */
export interface Finding {
  severity: 'error' | 'warning';
  /** Complete in itself: names file, place and what was expected. */
  message: string;
  code?: string;
  file?: string;
}

export interface CheckResult {
  findings: Finding[];
  /** What was there, in a few words. */
  facts?: string;
}

const errorFinding = (message: string): Finding => ({ severity: 'error', message });
export const warningFinding = (message: string): Finding => ({ severity: 'warning', message });

/** The result, or undefined after a finding. @throws what `isFinding` does not take */
export async function findingOf<T>(
  findings: Finding[],
  isFinding: (error: unknown) => error is Error,
  look: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (!isFinding(error)) throw error;
    findings.push(errorFinding(error.message));
    return undefined;
  }
}
