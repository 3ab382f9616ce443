/**
 * Takes out of every test's environment what would change what a program prints or does: settings of a server, and
 * what Node.js takes colours and widths from. A build machine sets CI, and then its terminals have no colours.
 */
const ofTheTerminal = [
  ...['CI', 'COLORTERM', 'COLUMNS', 'FORCE_COLOR', 'LINES', 'NODE_DISABLE_COLORS', 'NO_COLOR'],
  ...['TEAMCITY_VERSION', 'TERM_PROGRAM', 'TF_BUILD', 'TMUX'],
];
const ofTests = /^LOREKEEP_(CACHE|DATA|MODELS|RECORDS_MB|RUNTIME|TEST_\w+)$/;

for (const name of Object.keys(process.env)) {
  const setting = name.startsWith('LOREKEEP_') && !ofTests.test(name);
  if (setting || name === 'DO_NOT_TRACK' || ofTheTerminal.includes(name)) delete process.env[name];
}

// Which runtime is faster must not decide what a test sees; tests of the choice unset it.
process.env.LOREKEEP_RUNTIME ??= 'llama.cpp';
