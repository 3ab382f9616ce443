import { z } from 'zod';
import type { DoorHost } from '../host.js';
import type { Route } from '../http/route.js';
import { McpHttpHandler } from './http-handler.js';

/** The SDK checks the rest, and answers with errors of JSON-RPC. */
const message = z.looseObject({ jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.') });

/** MCP over streamable HTTP. */
export function mcpRoute(host: DoorHost): Route {
  const handler = new McpHttpHandler(host);
  return {
    method: 'POST',
    path: '/mcp',
    right: 'any',
    operation: 'mcp',
    summary:
      'Takes a message of the Model Context Protocol: streamable HTTP, whose clients accept application/json and text/event-stream.',
    body: message,
    reply: message,
    streams: 'in revisions up to 2025-11-25, and where notifications come before the result',
    otherStatuses: { 202: 'The message needs no reply.' },
    otherErrors: message,
    serve: (exchange) => handler.serve(exchange),
  };
}
