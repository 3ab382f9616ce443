/** The result of one check. */
export interface Finding {
  /** The subject of the check. */
  subject: string;
  status: 'ok' | 'warning' | 'failed';
  /** The observation. */
  message: string;
  /** The remedy. */
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
