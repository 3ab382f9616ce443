import { McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { packageVersion } from '../../base/files/home.js';
import { failureMessage } from '../failure.js';
import { instructions, type Shown } from './describe.js';
import { parseUri, shownRecord } from './records.js';
import { listWithin } from './text.js';
import { addTools, describeTools, type WhenOpen } from './tools.js';

/** A server of MCP, and how to tell it that more is known. */
export interface Door {
  readonly server: McpServer;
  describe(shown: Shown): void;
}

/** Makes the server of one connection. It answers at once; tools and resources wait until the knowledge is open. */
export function mcpServer(shown: Shown, whenOpen: WhenOpen): Door {
  const server = new McpServer(
    { name: 'lorekeep', title: 'lorekeep', version: packageVersion },
    { instructions: instructions(shown), capabilities: { tools: { listChanged: true } } },
  );
  const tools = addTools(server, whenOpen, shown);
  addRecords(server, shown.names, whenOpen);
  addPrompt(server, shown.names);
  return { server, describe: (now) => describeTools(tools, now) };
}

function addRecords(server: McpServer, names: readonly string[], whenOpen: WhenOpen): void {
  const complete = {
    storage: (begun: string) =>
      names.map((name) => encodeURIComponent(name)).filter((name) => name.startsWith(begun)),
  };
  const template = new ResourceTemplate('lorekeep://{storage}/{+id}', { list: undefined, complete });
  server.registerResource(
    'record',
    template,
    {
      title: 'Record',
      description: 'A record of a storage, by its id. Tools return the addresses.',
      mimeType: 'text/plain',
    },
    async ({ href }, _variables, { mcpReq }) => {
      const refuse = (message: string): never => {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      };
      const { storage, id } = parseUri(href) ?? refuse('uri: lorekeep://STORAGE/ID is expected');
      try {
        const knowledge = await whenOpen(mcpReq);
        const [{ name }] = knowledge.chosen(storage);
        const found = await knowledge.with(name, (one) => one.storage.get(id, { signal: mcpReq.signal }));
        if (found === undefined)
          return refuse(`uri: the storage has no record ${JSON.stringify(id.slice(0, 128))}`);
        const { text } = shownRecord(knowledge, name, found, true);
        return { contents: [{ uri: href, mimeType: 'text/plain', text }] };
      } catch (error) {
        return error instanceof ProtocolError ? Promise.reject(error) : refuse(failureMessage(error));
      }
    },
  );
}

function addPrompt(server: McpServer, names: readonly string[]): void {
  const where = listWithin(
    names.map((name) => JSON.stringify(name)),
    500,
  );
  server.registerPrompt(
    'answer',
    {
      title: 'Answer with citations',
      description: `Answers a question from ${where}, with the place of every fact.`,
      argsSchema: z.object({ question: z.string().min(1).max(10_000).describe('The question.') }),
    },
    ({ question }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'text',
            text: `Answer the question from ${where}. Search with lorekeep's tool \`search\` first, in other words too if little is found, and read records with \`get\` where their text is cut. After each fact, write the place of its record in brackets. Say so if the records do not answer the question.\n\nQuestion: ${question}`,
          },
        },
      ],
    }),
  );
}
