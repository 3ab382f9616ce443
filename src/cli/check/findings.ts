/** A mistake, or a probable one. */
export interface Finding {
  severity: 'error' | 'warning';
  /** A complete sentence that names the file, the place and the expected value. */
  message: string;
  code?: string;
  file?: string;
}

export interface CheckResult {
  findings: Finding[];
  /** A short description of the checked file. */
  facts?: string;
  /** Facts for the operator that are not mistakes. */
  notes?: string[];
}

const errorFinding = (message: string): Finding => ({ severity: 'error', message });
export const warningFinding = (message: string): Finding => ({ severity: 'warning', message });

/** The result, or undefined after a finding. @throws errors for which `isFinding` is false */
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
