// Tests that fail on an emulated platform for a reason that is not the product's. Whatever else fails is a failure.

const overwrites = 'overwrites or shortens a file in place while it is mapped, which Windows refuses';
const coarseClock =
  'measures a few milliseconds of processor time, and Windows counts that of a thread in steps of 10 ms or more';
const shortWaits = 'allows a connection 50 to 400 ms, for which Wine may stand still on two busy cores';

/** By target: C++ tests by name, and vitest's by `file` under test/ and the beginnings of their names (all without `tests`). */
export const limits = {
  windows: {
    native: {
      core_threads: coarseClock,
      text_sidecar: overwrites,
      vector_earlier: overwrites,
      vector_files: overwrites,
      store_indexed_records: overwrites,
      engine: overwrites,
    },
    vitest: [
      {
        file: 'downloads/downloads.test.ts',
        tests: ['minSpeed 0 accepts any speed', 'a server that goes silent is given up'],
        because: shortWaits,
      },
      {
        file: 'downloads/resume.test.ts',
        tests: ['a connection that breaks is continued'],
        because:
          'breaks a connection in the middle of a file, which Wine loses more of than six attempts make good',
      },
    ],
  },
  'linux-x64-musl': {
    native: {},
    vitest: [
      {
        file: 'crash/crashes.slow.test.ts',
        tests: ['a crash by', 'a crash for want of V8 heap'],
        because:
          'looks for names of functions, which the linker has taken out of this prebuild; the dumps are written',
      },
    ],
  },
};

/** Divides names of failed C++ tests into known ones and the others. */
export const sortNativeFailures = ({ name }, failed) => divide(failed, (test) => limits[name]?.native[test]);

/** Divides failures, as summarize() gives them, into known ones and lines about the others. */
export function sortFailures({ name }, failures) {
  const { known, others } = divide(failures, ({ file, test = '' }) =>
    (limits[name]?.vitest ?? []).some(
      (limit) =>
        file === `test/${limit.file}` &&
        (limit.tests === undefined || limit.tests.some((begin) => test.startsWith(begin))),
    ),
  );
  const line = ({ file, test, message }) => `${file}${test ? ` > ${test}` : ''}: ${message}`;
  return { known, failures: others.map(line) };
}

const divide = (failures, isKnown) => ({
  known: failures.filter((failure) => isKnown(failure)),
  others: failures.filter((failure) => !isKnown(failure)),
});
