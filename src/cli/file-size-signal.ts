/**
 * Makes writes beyond the limit on file sizes (`ulimit -f`) fail with EFBIG, which every writer reports. The system's signal for
 * them would end the process without a word.
 */
export function surviveFileSizeLimit(): void {
  try {
    process.on('SIGXFSZ', () => {});
  } catch {
    // This system has no such signal.
  }
}
