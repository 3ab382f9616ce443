/**
 * The parts of the SDK of MCP that run in lorekeep. The build bundles this file with them (scripts/tool/mcp-sdk.mjs), so that
 * nobody installs the whole SDK. No other file imports it.
 */
export type {
  CallToolResult,
  JSONRPCMessage,
  ListToolsResult,
  ServerContext,
} from '@modelcontextprotocol/server';
export {
  createMcpHandler,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
