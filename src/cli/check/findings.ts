import { LorekeepError } from '../../../lib/internal.js';

/** A mistake, or a probable one. */
export interface Finding {
  severity: 'error' | 'warning';
  /** A complete sentence that names the file, the place and the expected value. */
  message: string;
  /** Number of mistakes that the message lists, if not one. */
  mistakes?: number | undefined;
  code?: string;
  file?: string;
}

export interface CheckResult {
  findings: Finding[];
  /** A short description of the checked file. */
  facts?: string;
  /** Facts for the operator that are not mistakes. */
  notes?: string[];
  /** Lines that describe the file. */
  lines?: string[];
  /** More fields of the JSON result. */
  data?: object;
}

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
    const mistakes =
      error instanceof LorekeepError ? (error.detail as { mistakes?: number }).mistakes : undefined;
    findings.push({ severity: 'error', message: error.message, mistakes });
    return undefined;
  }
}
