import { z } from 'zod';
import { packageVersion } from '../../base/files/home.js';
import type { Right } from '../../config/keys-file.js';
import { instructions, type Shown } from './describe.js';
import { chosen, longestName } from './knowledge.js';
import { readTools } from './read-tools.js';
import { encoded, parseUri, shownRecord } from './records.js';
import { type Explain, McpRefusal, told } from './refusal.js';
import { McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from './sdk.js';
import { listWithin, quotedWithin } from './text.js';
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

/** Most names that completion offers. */
const mostCompleted = 100;

function addRecords(server: McpServer, { shown, whenOpen, explain }: McpServing): void {
  const complete = {
    storage: (begun: string) =>
      shown
        .map(({ name }) => encoded(name))
        .filter((name) => name.startsWith(begun))
        .slice(0, mostCompleted),
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
      try {
        const place = parseUri(href);
        if (place === undefined) throw new McpRefusal('uri: lorekeep://STORAGE/ID is expected');
        const knowledge = await whenOpen(mcpReq);
        const [{ name }] = chosen(knowledge, place.storage);
        const { session } = knowledge;
        const { records } = await session.call('GetEmbeddedStringStorageRequest', { name, ids: [place.id] });
        const [found] = records;
        if (found === undefined)
          throw new McpRefusal(`uri: the storage has no record ${JSON.stringify(place.id.slice(0, 128))}`);
        const { text } = shownRecord(knowledge, name, found, true);
        return { contents: [{ uri: href, mimeType: 'text/plain', text }] };
      } catch (error) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, told(error, explain));
      }
    },
  );
}

function addPrompt(server: McpServer, shown: Shown): void {
  const names = shown.map(({ name }) => quotedWithin(name, longestName));
  const where = listWithin(names, 500);
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
