import { z } from 'zod';

const citation = {
  start_index: z.int().describe('Its place in the text, in UTF-16 code units.'),
  end_index: z.int().describe('The place after it.'),
  url: z.string().describe('`lorekeep://STORAGE/ID`.'),
  title: z.string().describe('Title or path of the record, else its id.'),
};

const called = {
  name: z.string().describe('Name of the tool.'),
  arguments: z.string().describe('Its arguments, as JSON.'),
};

const tokenLogprob = z.looseObject({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) });

/** A chat completion that is not streamed, for the OpenAPI document. */
export const chatReply = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int().describe('When it was made, in seconds.'),
  model: z.string(),
  choices: z
    .array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable().describe('The text; null if it only calls tools.'),
          annotations: z.array(
            z.looseObject({ type: z.literal('url_citation'), url_citation: z.looseObject(citation) }),
          ),
          reasoning_content: z.string().optional().describe('Thinking, if there is some.'),
          tool_calls: z
            .array(
              z.looseObject({
                id: z.string(),
                type: z.literal('function'),
                function: z.looseObject(called),
              }),
            )
            .optional(),
        }),
        logprobs: z.looseObject({ content: z.array(tokenLogprob) }).nullable(),
        finish_reason: z.enum(['stop', 'length', 'tool_calls']),
      }),
    )
    .describe('One reply.'),
  usage: z.looseObject({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
  }),
});

/** An item of the output of a response. */
const item = z.looseObject({
  id: z.string(),
  type: z.enum(['message', 'reasoning', 'function_call']),
  status: z.enum(['completed', 'incomplete']),
  content: z
    .array(
      z.looseObject({
        type: z.enum(['output_text', 'reasoning_text']),
        text: z.string(),
        annotations: z.array(z.looseObject({ type: z.literal('url_citation'), ...citation })).optional(),
        logprobs: z.array(tokenLogprob).optional(),
      }),
    )
    .optional()
    .describe('Of messages and of reasoning.'),
  call_id: z.string().optional().describe('Of a call.'),
  name: z.string().optional().describe('Name of the tool that is called.'),
  arguments: z.string().optional().describe('Arguments of the call, as JSON.'),
});

/** A response that is not streamed, for the OpenAPI document. */
export const responseReply = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int().describe('When it was made, in seconds.'),
  model: z.string(),
  status: z.enum(['completed', 'incomplete']),
  output: z.array(item),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
});
