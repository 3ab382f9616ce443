import { setImmediate as nextTurn } from 'node:timers/promises';
import { rights } from '../../config/keys-file.js';
import { McpRefusal } from './refusal.js';
import { createMcpHandler } from './sdk.js';
import { mcpServer } from './server.js';

const from = { name: 'lorekeep', version: '1' };
const messages = [
  { method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: from } },
  { method: 'tools/list', params: {} },
  { method: 'tools/call', params: { name: 'search', arguments: { query: 'a' } } },
];

/**
 * Answers messages of no client. The first ones load and compile what all need, which takes longer than clients beside them
 * should wait: call it before there are clients.
 */
export async function answerFirstMessages(): Promise<void> {
  const handler = createMcpHandler(async () => {
    const { server } = mcpServer({
      shown: [{ name: 'none', writable: true }],
      rights: new Set(rights),
      whenOpen: () => Promise.reject(new McpRefusal('nothing is open')),
      explain: () => 'nothing is open',
    });
    return server;
  });
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  for (const message of messages) {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers });
    await nextTurn();
    const response = await handler.fetch(request, { parsedBody: { jsonrpc: '2.0', id: 1, ...message } });
    await response.text();
    await nextTurn();
  }
}
