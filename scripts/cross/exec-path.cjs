// Preloaded into each Node.js under an emulator, which is the process that the system knows: child processes that are started
// as `process.execPath` run under the emulator, too.
process.execPath = process.env.LOREKEEP_EMULATED_NODE;
process.argv[0] = process.execPath;
