import { describeIssue, fieldIssue } from '../base/schema/field-issue.js';
import { plainMessage } from '../base/schema/messages.js';
import { StartupError } from '../config/startup-error.js';
import { type Graph, graphSchema } from '../protocol/graph.js';

/** Returns the graph in a text; nodes and params are checked when an agent is made. `where` begins the messages. @throws StartupError */
export function checkedGraph(text: string, where: string): Graph {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new StartupError(`${where}: is not JSON: ${(error as Error).message}`);
  }
  const parsed = graphSchema.safeParse(value, { error: plainMessage });
  if (parsed.success) return parsed.data;
  throw new StartupError(`${where}: ${describeIssue(fieldIssue(graphSchema, value, parsed.error))}`);
}
