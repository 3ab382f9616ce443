import { clientSlices, mapInSlices } from '../../base/waiting/next-slice.js';
import { HttpRefusal } from '../http/failure.js';
import { callText, type ToolCall } from './tools.js';

/** A message in the terms of the engine. */
export type Message =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly (ToolCall & { readonly id: string })[];
    }
  | { readonly role: 'tool'; readonly text: string; readonly id: string };

/** A conversation as an agent takes it: its system text, its earlier turns, and the message to be answered. */
export interface Conversation {
  readonly system: string;
  readonly turns: readonly { readonly text: string; readonly reply: string }[];
  readonly text: string;
}

/** Most characters of a conversation: no context holds more. They are counted before they are joined. */
const longestConversation = 8_388_608;

/** Divides messages into turns, in slices. `field`: the name of the messages in the request. @throws HttpRefusal */
export async function conversationOf(messages: readonly Message[], field: string): Promise<Conversation> {
  checkLength(messages, field);
  const system: string[] = [];
  const turns: { text: string; replies: string[] }[] = [];
  const names = new Map<string, string>();
  let asked: string[] = [];
  const slices = clientSlices();
  for (const message of messages) {
    if (slices.over) await slices.next();
    switch (message.role) {
      case 'system':
        system.push(message.text);
        break;
      case 'user':
        asked.push(message.text);
        break;
      case 'tool':
        asked.push(`Result of ${names.get(message.id) ?? 'the tool'}: ${message.text}`);
        break;
      case 'assistant': {
        for (const { id, name } of message.calls) names.set(id, name);
        const reply = joined([message.text, ...message.calls.map(callText)], '\n');
        const last = turns.at(-1);
        // Joined once at the end: each time anew, the time would grow with the square of their number.
        if (asked.length === 0 && last !== undefined) last.replies.push(reply);
        else turns.push({ text: joined(asked), replies: [reply] });
        asked = [];
        break;
      }
    }
  }
  const text = joined(asked);
  if (text.trim() === '')
    throw new HttpRefusal(
      400,
      'invalid_field',
      `${field}: the last message must be of the user or of a tool, and not blank`,
      field,
    );
  const whole = await mapInSlices(turns, ({ text: said, replies }) => ({
    text: said,
    reply: joined(replies),
  }));
  return { system: joined(system), turns: whole, text };
}

/** @throws HttpRefusal */
function checkLength(messages: readonly Message[], field: string): void {
  let length = 0;
  for (const message of messages) {
    length += message.text.length;
    if (message.role === 'assistant') for (const call of message.calls) length += call.arguments.length;
  }
  if (length <= longestConversation) return;
  throw new HttpRefusal(
    400,
    'context_length_exceeded',
    `${field}: the conversation has ${length} characters; at most ${longestConversation} are read`,
    field,
  );
}

function joined(parts: readonly string[], separator = '\n\n'): string {
  return parts.filter((part) => part !== '').join(separator);
}
