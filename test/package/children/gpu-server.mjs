// Runs in a project with lorekeep and the stand-in, packed as the plugins of all backends. argv: a language model. Starts
// the server, talks to it as a client, loses the GPU and needs its memory. Prints what happened as one line of JSON.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { connect } from 'lorekeep/client';

const [path] = process.argv.slice(2);
const { STAND_IN_LOST: lostFile, STAND_IN_TELLS: bytesFile } = process.env;
const model = { name: 'stories', model_type: 'llm', variants: [{ file: path, context_size: 256 }] };
writeFileSync('gpu-models.json', JSON.stringify({ version: 1, models: [model] }));
const inference = { n_threads: 1, n_threads_batch: 1 };
const engines = { llm_engine: { backend: 'auto', inference } };
const config = { port: 0, logs_dir: '', models_catalog_path: 'gpu-models.json', engines };
writeFileSync('gpu-config.json', JSON.stringify(config));

const program = 'node_modules/lorekeep/dist/src/cli/lorekeep.cjs';
const server = spawn(process.execPath, [program, 'serve', '--config', 'gpu-config.json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.on('exit', () => server.kill('SIGKILL'));
const candidates = [];
let port;
for await (const line of createInterface({ input: server.stdout })) {
  const { msg, port: found } = JSON.parse(line);
  if (msg?.startsWith('backend ')) candidates.push(msg);
  if (found !== undefined) port = found;
  if (msg === 'listening') break;
}
server.stdout.resume();

const client = await connect({ port });
const session = await client.createSession();
const params = { model: 'stories', system: '', on_no_knowledge: 'answer', temperature: 0, max_tokens: 20 };
const graph = { nodes: [{ id: 'talk', type: 'generate', params }] };
const places = [];
const deviceOfModel = async () => (await session.listModels()).models[0].device;
/** The reply of a new agent, which remembers nothing; the code of its error if it fails. */
const reply = async () => {
  const agent = await session.createAgent({ graph });
  const { text, error } = await agent.turn('Once upon a time');
  return error?.code ?? text;
};
const tell = async () => {
  const told = await reply();
  places.push(await deviceOfModel());
  return told;
};
const taken = () => Number(readFileSync(bytesFile, 'utf8'));

const text = await tell();
writeFileSync(lostFile, 'status');
const lost = await reply();
rmSync(lostFile);
// The model leaves the lost device after its requests have failed.
while ((await deviceOfModel()) !== undefined) await setTimeout(5);
const reloaded = await tell();
const bytesUsed = taken() > 0;
await client.allowVideoMemory(false);
const bytesLeft = taken();
const onCpu = await tell();
await client.allowVideoMemory(true);
const returned = await tell();
await client.close();
server.kill('SIGTERM');
await once(server, 'close');
const same = [reloaded, onCpu, returned].map((each) => each === text);
console.log(JSON.stringify({ candidates, text, places, same, lost, bytesUsed, bytesLeft }));
