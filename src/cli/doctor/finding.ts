/** What one look found. */
export interface Finding {
  /** What was looked at. */
  subject: string;
  status: 'ok' | 'warning' | 'failed';
  /** What was found. */
  message: string;
  /** What to do about it. */
  fix?: string;
}

export const ok = (subject: string, message: string): Finding => ({ subject, status: 'ok', message });

export const warning = (subject: string, message: string, fix: string): Finding => ({
  subject,
  status: 'warning',
  message,
  fix,
});

export const failed = (subject: string, message: string, fix: string): Finding => ({
  subject,
  status: 'failed',
  message,
  fix,
});
