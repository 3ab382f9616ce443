import { chosen, type Knowledge } from './knowledge.js';
import { encoded, parseUri, recordUri, shownRecord } from './records.js';
import { type Explain, McpRefusal, told } from './refusal.js';
import { type McpServer, ResourceTemplate } from './sdk.js';
import { longestName, quotedWithin } from './text.js';
import { invalidParams, type ToolRequest, type WhenOpen } from './tool.js';

/** The form of the addresses. */
export const addressForm = 'lorekeep://{storage}/{+id}';

/** Makes each record a resource. */
export function addRecords(
  server: McpServer,
  { whenOpen, explain }: { whenOpen: WhenOpen; explain: Explain },
): void {
  const read = async (uri: string, request: ToolRequest) => {
    try {
      const place = parseUri(uri);
      if (place === undefined)
        throw new McpRefusal(`uri: lorekeep://STORAGE/ID is expected, not ${quotedWithin(uri, longestName)}`);
      const text = await recordText(await whenOpen(request), place);
      return { contents: [{ uri, mimeType: 'text/plain', text }] };
    } catch (error) {
      throw invalidParams(told(error, explain));
    }
  };
  server.registerResource(
    'record',
    new ResourceTemplate(addressForm, { list: undefined }),
    {
      title: 'Record',
      description: 'A record of a storage, by its id. Tools return the addresses.',
      mimeType: 'text/plain',
    },
    ({ href }, _variables, { mcpReq }) => read(href, mcpReq),
  );
  // In place of the SDK's own handler, which refuses other addresses without a word about the right ones.
  server.server.setRequestHandler('resources/read', ({ params }, { mcpReq }) => read(params.uri, mcpReq));
}

/** @throws McpRefusal; as DoorSession.call() */
async function recordText(knowledge: Knowledge, { storage, id }: { storage: string; id: string }) {
  const [{ name }] = chosen(knowledge, storage);
  if (id === '') throw new McpRefusal(`uri: the record is missing: ${recordUri(name, '')}ID is expected`);
  const { records } = await knowledge.session.call('GetEmbeddedStringStorageRequest', { name, ids: [id] });
  const [found] = records;
  if (found === undefined)
    throw new McpRefusal(`uri: the storage has no record ${JSON.stringify(id.slice(0, 128))}`);
  return shownRecord(knowledge, name, found, true).text;
}

/** Most names that completion offers. */
const mostCompleted = 100;

/** Names of storages for an address, by their begin. */
export const completedNames = (storages: readonly { readonly name: string }[], begun: string): string[] =>
  storages
    .map(({ name }) => encoded(name))
    .filter((name) => name.startsWith(begun))
    .slice(0, mostCompleted);
