import { z } from 'zod';
import { describeIssue, fieldIssue } from '../../base/schema/field-issue.js';
import { plainMessage } from '../../base/schema/messages.js';
import type { Shown } from './describe.js';
import { addressForm, completedNames } from './resources.js';
import type { McpServer } from './sdk.js';
import { listWithin, longestName, quotedWithin, unknownName } from './text.js';
import { invalidParams } from './tool.js';

const answer = 'answer';

const answerArguments = z.object({ question: z.string().min(1).max(10_000).describe('The question.') });

/** Offers the prompt, and completes names of storages in addresses. */
export function addPrompt(server: McpServer, shown: Shown): void {
  const names = shown.map(({ name }) => quotedWithin(name, longestName));
  const where = listWithin(names, 500);
  const promptOf = (question: string) => ({
    messages: [
      {
        role: 'user' as const,
        content: {
          type: 'text' as const,
          text: `Answer the question from ${where}. Search with lorekeep's tool \`search\` first, in other words too if little is found, and read records with \`get\` where their text is cut. After each fact, write the place of its record in brackets. Say so if the records do not answer the question.\n\nQuestion: ${question}`,
        },
      },
    ],
  });
  server.registerPrompt(
    answer,
    {
      title: 'Answer with citations',
      description: `Answers a question from ${where}, with the place of every fact.`,
      argsSchema: answerArguments,
    },
    ({ question }) => promptOf(question),
  );
  // In place of the SDK's own handlers, which tell mistakes in other words.
  server.server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) => {
    if (name !== answer) throw invalidParams(unknownName('prompt', name, [answer]));
    const parsed = answerArguments.safeParse(given, { error: plainMessage });
    if (!parsed.success) throw invalidParams(describeIssue(fieldIssue(answerArguments, given, parsed.error)));
    return promptOf(parsed.data.question);
  });
  server.server.registerCapabilities({ completions: {} });
  server.server.setRequestHandler('completion/complete', ({ params: { ref, argument } }) => {
    const { name, value } = argument;
    const ofPrompt = ref.type === 'ref/prompt';
    if (ofPrompt && ref.name !== answer) throw invalidParams(unknownName('prompt', ref.name, [answer]));
    if (!ofPrompt && ref.uri !== addressForm)
      throw invalidParams(unknownName('resource template', ref.uri, [addressForm]));
    const known = ofPrompt ? Object.keys(answerArguments.shape) : ['storage', 'id'];
    if (!known.includes(name)) throw invalidParams(unknownName('argument', name, known));
    const values = name === 'storage' ? completedNames(shown, value) : [];
    return { completion: { values, total: values.length, hasMore: false } };
  });
}
