import type { z } from 'zod';
import type { Right } from '../../config/keys-file.js';
import { type Shown, storageLines } from './describe.js';
import type { Knowledge } from './knowledge.js';
import { type Explain, told } from './refusal.js';
import type { CallToolResult, McpServer, RegisteredTool, ServerContext } from './sdk.js';

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

/** Hints of tools that read. */
export const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const;

/** Keeps the types of a tool's arguments and result. */
export const tool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  given: Tool<Input, Output>,
): Tool => given as unknown as Tool;

/** Returns the knowledge once it is open. @throws the reason why it cannot be opened; the reason of the request's signal */
export type WhenOpen = (request: ToolRequest) => Promise<Knowledge>;

/** Tools of one server, with the way to tell them that more is known. */
export class RegisteredTools {
  readonly #tools: readonly (readonly [Tool, RegisteredTool])[];

  constructor(
    server: McpServer,
    tools: readonly Tool[],
    { shown, whenOpen, explain }: { shown: Shown; whenOpen: WhenOpen; explain: Explain },
  ) {
    this.#tools = tools.map((each) => {
      const { name, title, hints, output } = each;
      const facts = {
        title,
        description: describe(each, shown),
        annotations: { title, ...hints, openWorldHint: false },
        inputSchema: each.input(shown),
        outputSchema: output,
      };
      const call = async (given: object, { mcpReq }: ServerContext): Promise<CallToolResult> => {
        try {
          const { data, text } = await each.run(await whenOpen(mcpReq), given as never, mcpReq);
          return { content: [{ type: 'text', text }], structuredContent: data };
        } catch (error) {
          // The client's model reads it, and can try again.
          return { isError: true, content: [{ type: 'text', text: told(error, explain) }] };
        }
      };
      return [each, server.registerTool(name, facts, call)] as const;
    });
  }

  /** Writes what there is into descriptions and schemas. */
  describe(shown: Shown): void {
    for (const [each, registered] of this.#tools)
      registered.update({ description: describe(each, shown), paramsSchema: each.input(shown) });
  }
}

function describe({ purpose, lists }: Tool, shown: Shown): string {
  const listed = lists(shown);
  return listed.length === 0 ? purpose : `${purpose}\n\n${storageLines(listed)}`;
}
