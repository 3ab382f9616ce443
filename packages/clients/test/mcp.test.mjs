import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { EmptyResultSchema } from '@modelcontextprotocol/sdk/types.js';

const {
  LOREKEEP_URL: url,
  LOREKEEP_PROGRAM: program,
  LOREKEEP_PLACE: place,
  LOREKEEP_CATALOG: catalog,
} = process.env;
const command = [process.execPath, program, 'mcp', '--catalog', catalog, place];

const transports = {
  'streamable HTTP': () => new StreamableHTTPClientTransport(new URL('/mcp', url)),
  stdio: () =>
    new StdioClientTransport({
      command: command[0],
      args: command.slice(1),
      env: process.env,
      stderr: 'ignore',
    }),
};

for (const [name, transport] of Object.entries(transports))
  test(`a client of the first SDK works over ${name}`, async () => {
    const client = new Client({ name: 'v1', version: '1' });
    await client.connect(transport());
    assert.match(client.getInstructions(), /lorekeep searches/);
    const { tools } = await client.listTools();
    assert.ok(tools.length >= 4);
    const storage = name === 'stdio' ? {} : { storage: 'docs' };
    const found = await client.callTool({
      name: 'search',
      arguments: { query: 'who services the telescope?', top_k: 1, ...storage },
    });
    assert.equal(found.structuredContent.hits[0].id, 'telescope');
    const { uri } = found.structuredContent.hits[0];
    assert.match((await client.readResource({ uri })).contents[0].text, /Anna Holm/);
    assert.equal((await client.listPrompts()).prompts[0].name, 'answer');
    await assert.rejects(client.request({ method: 'tools/lst' }, EmptyResultSchema), {
      code: -32601,
      message: /there is no method "tools\/lst"; did you mean "tools\/list"\?/,
    });
    await client.close();
  });

/** These programs need a newer Node.js than lorekeep; LOREKEEP_NODE22 names one. */
const [major] = process.versions.node.split('.').map(Number);
const node = major >= 22 ? process.execPath : process.env.LOREKEEP_NODE22;
const skip = node === undefined && 'needs Node.js 22.19 or newer; LOREKEEP_NODE22 may name its program';
const require = createRequire(import.meta.url);

function binary(name, bin) {
  const file = join(
    require.resolve.paths(name).find((folder) => folder.endsWith('packages/node_modules')),
    name,
    'package.json',
  );
  const manifest = require(file);
  return join(dirname(file), typeof manifest.bin === 'string' ? manifest.bin : manifest.bin[bin]);
}

const run = (...args) =>
  spawnSync(node, args, {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${dirname(node ?? '')}:${process.env.PATH}` },
  });

for (const [name, target] of [
  ['streamable HTTP', ['--transport', 'http', `${url}/mcp`]],
  ['stdio', ['--', ...command]],
])
  test(`the inspector's command line lists and calls tools over ${name}`, { skip }, () => {
    const inspector = binary('@modelcontextprotocol/inspector', 'mcp-inspector');
    const listed = run(inspector, '--cli', '--method', 'tools/list', '--strict', ...target);
    assert.equal(listed.status, 0, listed.stderr);
    assert.ok(JSON.parse(listed.stdout).tools.length >= 4);
    const search = ['--method', 'tools/call', '--tool-name', 'search', '--tool-arg', 'query=telescope'];
    const called = run(inspector, '--cli', ...search, ...target);
    assert.equal(called.status, 0, called.stderr);
    assert.match(called.stdout, /Anna Holm/);
  });

// The others call tools of the suite's own example server.
for (const scenario of [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
])
  test(`the conformance suite passes: ${scenario}`, { skip }, () => {
    const suite = binary('@modelcontextprotocol/conformance', 'conformance');
    const { status, stdout, stderr } = run(suite, 'server', '--url', `${url}/mcp`, '--scenario', scenario);
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /Passed: ([1-9]\d*)\/\1, 0 failed/);
  });
