// Runs `lorekeep serve --config <file>`. At SIGUSR2 a promise is rejected that nobody handles, at SIGHUP an exception is thrown that
// nobody catches, as by what a request left behind.
import { serve } from '../../../dist/src/cli/serve.js';

process.on('SIGUSR2', () => void Promise.reject(new Error('left behind: a rejection')));
process.on('SIGHUP', () => {
  throw new Error('left behind: an exception');
});
await serve({ '--config': process.argv[2] });
