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

/** Divides messages into turns. `field`: the name of the messages in the request. @throws HttpRefusal */
export function conversationOf(messages: readonly Message[], field: string): Conversation {
  const system: string[] = [];
  const turns: { text: string; reply: string }[] = [];
  const names = new Map<string, string>();
  let asked: string[] = [];
  for (const message of messages) {
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
        if (asked.length === 0 && last !== undefined) last.reply = joined([last.reply, reply]);
        else turns.push({ text: joined(asked), reply });
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
  return { system: joined(system), turns, text };
}

function joined(parts: readonly string[], separator = '\n\n'): string {
  return parts.filter((part) => part !== '').join(separator);
}
