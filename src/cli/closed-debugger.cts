// Keeps the debugger of Node.js closed: SIGUSR1 would open it on a port to which every user of the machine can connect.
// A signal before this module is loaded may have opened it. One that the operator asked for stays.
const asked = [...process.execArgv, process.env.NODE_OPTIONS].some((flag) => flag?.includes('--inspect'));

function keepClosed(): void {
  try {
    process.on('SIGUSR1', () => {});
    const inspector = require('node:inspector') as typeof import('node:inspector');
    if (!asked && inspector.url() !== undefined) inspector.close();
  } catch {
    // This system has no such signal, or this Node.js no debugger.
  }
}

keepClosed();
