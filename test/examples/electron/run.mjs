// node run.mjs TEXT...: starts the app, says the texts as its page does, prints the replies, and quits.
import { app, invoke } from 'electron';

await import(new URL('dist/src/main.js', `file://${process.cwd()}/`).href);
await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
for (const text of process.argv.slice(2)) {
  const pieces = await invoke('ask', text);
  process.stdout.write(`${pieces.join('')}\n`);
}
app.quit();
