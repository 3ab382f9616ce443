import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Every file and folder below a folder, with its size and time of change. */
export function snapshot(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const { size, mtimeMs } = statSync(join(folder, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}

/** A program of a product: starts the server of the package, lets it open a knowledge base, and prints what it warned of. */
export const product = `
import { connect, startServer } from 'lorekeep/client';
const server = await startServer({ dataDir: process.argv[2], args: ['--idle-shutdown-timeout', '60'] });
const client = await connect(server);
const session = await client.createSession();
await session.createEmbeddedStringStorage({ name: 'words', strings: ['a lamp', 'an oven'], embeddingModel: 'all-MiniLM-L6-v2' });
await client.close();
console.log(JSON.stringify({ warnings: server.warnings, exit: (await server.close()).code }));
`;
