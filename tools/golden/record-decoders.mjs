// Records what llama.cpp's own server generates with the tiny random models of test/helpers/tiny-model/tiny-decoder.mjs:
// test/lib/decoders.golden.json. `npm run setup:llama-server` in bench/ builds the program from the vendored release.
// node tools/golden/record-decoders.mjs --server LLAMA_SERVER [--work FOLDER]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/tool/project.mjs';
import { runScript, Stop } from '../../scripts/tool/stop.mjs';
import { tinyDecoders, writeTinyDecoder } from '../../test/helpers/tiny-model/tiny-decoder.mjs';

/** Short, longer than the sliding window, and longer than a chunk. */
const prompts = [
  'the cat sat on the mat.',
  'kings and queens keep gold, salt and old songs in towers! how long does the moon shine over water?',
  'a dog runs fast under the blue sky. '.repeat(5),
];
const length = 32;
const alternatives = 4;
/** Tokens with log-probabilities. */
const probed = 6;
/** A reply is recorded up to the first token whose lead is less: other processors round otherwise. */
const minLead = 0.05;
const context = 256;

await runScript('record-decoders', async (args) => {
  const options = { server: { type: 'string' }, work: { type: 'string' } };
  const { values } = parseArgs({ args, options });
  if (values.server === undefined)
    throw new Stop('--server: name the llama-server of the vendored release, which bench/ builds');
  const work = values.work ?? join(tmpdir(), 'lorekeep-golden');
  mkdirSync(work, { recursive: true });
  const models = {};
  for (const name of tinyDecoders) {
    const file = join(work, `${name}.gguf`);
    await writeTinyDecoder(name, file);
    models[name] = await recorded(values.server, file);
    const tokens = models[name].reduce((sum, reply) => sum + reply.tokens.length, 0);
    process.stdout.write(`${name}: ${tokens} tokens\n`);
  }
  const target = join(root, 'test', 'lib', 'decoders.golden.json');
  writeFileSync(target, `${lines({ program: await version(values.server), models })}\n`);
  process.stdout.write(`record-decoders: ${target}\n`);
});

/** One line per reply. */
function lines({ program, models }) {
  const list = Object.entries(models).map(([name, replies]) => {
    const each = replies.map((reply) => `      ${JSON.stringify(reply)}`).join(',\n');
    return `    ${JSON.stringify(name)}: [\n${each}\n    ]`;
  });
  return `{\n  "program": ${JSON.stringify(program)},\n  "models": {\n${list.join(',\n')}\n  }\n}`;
}

async function recorded(program, file) {
  const port = await freePort();
  const flags = [
    '-m',
    file,
    '--host',
    '127.0.0.1',
    '--port',
    port,
    '-c',
    context,
    '-np',
    1,
    '-t',
    1,
    '--no-warmup',
  ];
  const server = spawn(program, flags.map(String), { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  try {
    while (!(await fetch(`${url}/health`).catch(() => undefined))?.ok) {
      if (server.exitCode !== null) throw new Stop(`${program} ended with ${server.exitCode} for ${file}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const replies = [];
    for (const text of prompts) replies.push(await reply(url, text));
    return replies;
  } finally {
    server.kill();
    if (server.exitCode === null) await once(server, 'exit');
  }
}

async function reply(url, text) {
  const { tokens: prompt } = await post(`${url}/tokenize`, { content: text, add_special: true });
  const { tokens, completion_probabilities: found } = await post(`${url}/completion`, {
    prompt,
    n_predict: length,
    temperature: 0,
    n_probs: alternatives,
    return_tokens: true,
    cache_prompt: false,
  });
  const lead = ({ top_logprobs: [first, second] }) => first.logprob - second.logprob;
  const close = found.findIndex((each) => lead(each) < minLead);
  const kept = close < 0 ? tokens : tokens.slice(0, close);
  const logprobs = found
    .slice(0, Math.min(probed, kept.length))
    .map(({ top_logprobs }) => top_logprobs.map(({ id, logprob }) => [id, Number(logprob.toFixed(4))]));
  return { prompt, tokens: kept, logprobs };
}

async function post(url, body) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Stop(`${url}: ${await response.text()}`);
  return response.json();
}

async function version(program) {
  const child = spawn(program, ['--version'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      text += data;
    });
  await once(child, 'close');
  return /version: (.*)/.exec(text)?.[1] ?? 'llama-server';
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
