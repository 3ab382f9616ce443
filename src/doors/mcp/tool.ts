import { z } from 'zod';
import { describeIssue, fieldIssue } from '../../base/schema/field-issue.js';
import { plainMessage } from '../../base/schema/messages.js';
import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import type { Right } from '../../config/keys-file.js';
import { type Shown, storageLines } from './describe.js';
import type { Knowledge } from './knowledge.js';
import { type Explain, McpRefusal, told } from './refusal.js';
import { withoutNullFields } from './request.js';
import {
  type CallToolResult,
  type ListToolsResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from './sdk.js';
import { unknownName } from './text.js';

/** The request of a call. */
export type ToolRequest = ServerContext['mcpReq'];

/** The result of a tool, for programs and for people. */
export interface ToolResult<Output> {
  readonly data: Output;
  readonly text: string;
}

/** A tool. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** The first line of its description. */
  readonly purpose: string;
  /** The right that clients need. */
  readonly right: Right;
  readonly hints: Readonly<{ readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean }>;
  /** The storages that its description lists. */
  lists(shown: Shown): Shown;
  input(shown: Shown): Input;
  readonly output: Output;
  run(
    knowledge: Knowledge,
    given: z.output<Input>,
    request: ToolRequest,
  ): Promise<ToolResult<z.input<Output>>>;
}

/** A refusal of a request as the protocol has it. */
export const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** Hints of tools that read. */
export const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const;

/** Keeps the types of a tool's arguments and result. */
export const tool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  given: Tool<Input, Output>,
): Tool => given as unknown as Tool;

/** Returns the knowledge once it is open. @throws the reason why it cannot be opened; the reason of the request's signal */
export type WhenOpen = (request: ToolRequest) => Promise<Knowledge>;

/** A tool as its clients see it. */
interface OfferedTool {
  readonly tool: Tool;
  readonly input: z.ZodObject;
  /** Its entry in the list of tools. */
  readonly listed: ListedTool;
}

type ListedTool = ListToolsResult['tools'][number];
type ObjectSchema = ListedTool['inputSchema'];

/** By list of storages: making a schema, and writing it as JSON, takes longer than a search. */
const offers = new WeakMap<Shown, Map<Tool, OfferedTool>>();

/** Returns the tool for these storages; the same one for the same list. */
function offered(tool: Tool, shown: Shown): OfferedTool {
  const made = offers.get(shown) ?? new Map<Tool, OfferedTool>();
  offers.set(shown, made);
  const known = made.get(tool);
  if (known !== undefined) return known;
  const { name, title, hints, output } = tool;
  const input = tool.input(shown);
  const listed = {
    ...{ name, title, description: describe(tool, shown) },
    inputSchema: schemaOf(input, 'input'),
    annotations: { title, ...hints, openWorldHint: false },
    outputSchema: schemaOf(output, 'output'),
  };
  const offer = { tool, input, listed };
  made.set(tool, offer);
  return offer;
}

const schemaOf = (schema: z.ZodObject, io: 'input' | 'output'): ObjectSchema =>
  z.toJSONSchema(schema, { target: 'draft-2020-12', io }) as ObjectSchema;

/** Tools of one server, with the way to tell them that more is known. */
export class RegisteredTools {
  readonly #server: McpServer;
  readonly #tools: readonly Tool[];
  #shown: Shown;

  constructor(
    server: McpServer,
    tools: readonly Tool[],
    { shown, whenOpen, explain }: { shown: Shown; whenOpen: WhenOpen; explain: Explain },
  ) {
    this.#server = server;
    this.#tools = tools;
    this.#shown = shown;
    // In place of the SDK's own handlers, which write each schema again for each request, and tell mistakes in other words.
    server.server.setRequestHandler('tools/list', () => ({
      tools: this.#tools.map((tool) => offered(tool, this.#shown).listed),
    }));
    server.server.setRequestHandler('tools/call', async ({ params }, { mcpReq }): Promise<CallToolResult> => {
      const called = this.#tools.find(({ name }) => name === params.name);
      if (called === undefined) throw invalidParams(noTool(params.name, tools));
      try {
        const { input } = offered(called, this.#shown);
        const given = checkedArguments(input, params.arguments ?? {});
        const { data, text } = await called.run(await whenOpen(mcpReq), given as never, mcpReq);
        return { content: [{ type: 'text', text }], structuredContent: data };
      } catch (error) {
        // The client's model reads it, and can try again.
        return { isError: true, content: [{ type: 'text', text: told(error, explain) }] };
      }
    });
  }

  /** Writes what there is into descriptions and schemas. */
  describe(shown: Shown): void {
    this.#shown = shown;
    this.#server.sendToolListChanged();
  }
}

function describe({ purpose, lists }: Tool, shown: Shown): string {
  const listed = lists(shown);
  return listed.length === 0 ? purpose : `${purpose}\n\n${storageLines(listed)}`;
}

/** Tools that are offered to some clients alone. */
const changing = ['remember', 'forget'];

function noTool(name: string, tools: readonly Tool[]): string {
  if (changing.includes(name)) return `the tool "${name}" is not offered: this client may change no storage`;
  return unknownName(
    'tool',
    name,
    tools.map((each) => each.name),
  );
}

/** Returns the arguments; those that are null count as absent. @throws McpRefusal that names the argument */
function checkedArguments(schema: z.ZodObject, given: object): unknown {
  const present = withoutNullFields(given);
  const { metadata } = present;
  if (isRecord(metadata)) present.metadata = withoutNullFields(metadata);
  const known = Object.keys(schema.shape).filter((name) => !Object.hasOwn(present, name));
  for (const name of Object.keys(present)) {
    if (Object.hasOwn(schema.shape, name)) continue;
    // Hosts may add arguments of their own. One that is nearly an argument of the tool is a mistake.
    const nearest = nearestName(name, known);
    if (nearest !== undefined)
      throw new McpRefusal(`${name}: is not an argument of this tool${didYouMean(nearest)}`);
  }
  const parsed = schema.safeParse(present, { error: plainMessage });
  if (parsed.success) return parsed.data;
  throw new McpRefusal(describeIssue(fieldIssue(schema, present, parsed.error)));
}

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
