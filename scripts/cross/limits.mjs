// Tests that fail on an emulated platform for a reason that is not the product's. Whatever else fails is a failure.

/** By target: `file` under test/, the beginnings of names of `tests` (all without it), and the reason. */
export const limits = {
  windows: [],
};

/** Divides failures, as summarize() gives them, into known ones and lines about the others. */
export function sortFailures({ name }, failures) {
  const isKnown = ({ file, test = '' }) =>
    (limits[name] ?? []).some(
      (limit) =>
        file === `test/${limit.file}` &&
        (limit.tests === undefined || limit.tests.some((begin) => test.startsWith(begin))),
    );
  return {
    known: failures.filter(isKnown),
    failures: failures
      .filter((failure) => !isKnown(failure))
      .map(({ file, test, message }) => `${file}${test ? ` > ${test}` : ''}: ${message}`),
  };
}
