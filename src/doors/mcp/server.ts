import { packageVersion } from '../../base/files/home.js';
import type { Right } from '../../config/keys-file.js';
import { instructions, type Shown } from './describe.js';
import { addPrompt } from './prompts.js';
import { readTools } from './read-tools.js';
import type { Explain } from './refusal.js';
import { addRecords } from './resources.js';
import { McpServer } from './sdk.js';
import { RegisteredTools, type WhenOpen } from './tool.js';
import { writeTools } from './write-tools.js';

/** What a server of MCP offers. */
export interface McpServing {
  readonly shown: Shown;
  /** The rights of the client: it sees the tools that it may call. */
  readonly rights: ReadonlySet<Right>;
  readonly whenOpen: WhenOpen;
  readonly explain: Explain;
}

/** A server of MCP, and how to tell it that more is known. */
export interface McpDoor {
  readonly server: McpServer;
  describe(shown: Shown): void;
}

/** Makes the server of one connection, or of one request. It answers at once; tools and resources wait until the knowledge is open. */
export function mcpServer(serving: McpServing): McpDoor {
  const { shown, rights } = serving;
  const offered = [...readTools, ...(shown.some(({ writable }) => writable) ? writeTools : [])];
  const tools = offered.filter(({ right }) => rights.has(right));
  const names = tools.map(({ name }) => name);
  const server = new McpServer(
    { name: 'lorekeep', title: 'lorekeep', version: packageVersion },
    { instructions: instructions(shown, names), capabilities: { tools: { listChanged: true } } },
  );
  const registered = new RegisteredTools(server, tools, serving);
  if (rights.has('search')) {
    addRecords(server, serving);
    addPrompt(server, shown);
  }
  return { server, describe: (now) => registered.describe(now) };
}
