import type { DoorHost } from '../host.js';
import type { Route } from '../http/route.js';
import { McpHttpHandler } from './http-handler.js';

/** MCP over streamable HTTP. */
export function mcpRoute(host: DoorHost): Route {
  const handler = new McpHttpHandler(host);
  return {
    method: 'POST',
    path: '/mcp',
    right: 'any',
    operation: 'mcp',
    summary: 'Model Context Protocol.',
    serve: (exchange) => handler.serve(exchange),
  };
}
