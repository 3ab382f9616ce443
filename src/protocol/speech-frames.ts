import { z } from 'zod';
import { stringArray } from '../base/schema/bounded.js';
import { voiceSettingsSchema } from '../base/schema/voice-settings.js';
import { errorFields, reply, request, session_id, turn_id, variables } from './fields.js';

/** Streams of audio, and the speech in them: docs/reference/protocol.md, "Audio". */

/** Maximum number of characters of a recogniser's prompt. */
export const longestPrompt = 4096;

const stream = z.int().min(1).max(0xffff_ffff).describe('Number of the stream, unique on the connection.');
const segment = z.int().describe('Number of the segment in its stream, from 1.');
const begin_ms = z.number().describe('Where speech begins, in ms since the beginning of the stream.');
const end_ms = z.number().describe('Where it ends, likewise.');
const modelName = z.string().min(1).max(128);

/** Requests about streams of audio. */
export const speechRequestSchemas = {
  OpenSpeechRequest: request('OpenSpeechRequest', {
    session_id,
    format: z
      .enum(['s16', 'f32'])
      .default('s16')
      .describe(
        'Samples in audio frames, little-endian: integers of 16 bits, or floats of 32 bits in [-1, 1].',
      ),
    rate: z.int().min(8000).max(48_000).default(16_000).describe('Samples per second and channel.'),
    channels: z.int().min(1).max(8).default(1).describe('Interleaved channels, whose mean is heard.'),
    model: modelName
      .optional()
      .describe('Catalog name of the recogniser. Default: the first `stt` model of the catalog.'),
    vad_model: modelName
      .optional()
      .describe(
        "Catalog name of the model that finds speech. Default: `default_vad_model` of the server's config.",
      ),
    vad: voiceSettingsSchema.default({}).describe('When speech begins and ends.'),
    language: z
      .string()
      .min(2)
      .max(3)
      .optional()
      .describe('ISO 639-1, such as `de`. Default: detected in each segment.'),
    translate: z.boolean().default(false).describe('Translates into English.'),
    prompt: z.string().max(longestPrompt).default('').describe('Names and spellings to expect.'),
    terms: stringArray({ most: 1000 })
      .optional()
      .describe(
        'Names to expect, the most important first, at most 1,000. As many as fit come before `prompt`. Default: with `agent_id`, values of the fields `title`, `heading` and `name` in the storages that the agent searches.',
      ),
    beams: z
      .int()
      .min(1)
      .max(8)
      .default(1)
      .describe('Beams of the search: more are slower, sometimes better.'),
    words: z.boolean().default(false).describe('SpeechText has times and probabilities of words.'),
    partial: z
      .boolean()
      .default(false)
      .describe(
        'SpeechText also while somebody speaks: in each pause and about every second, with `final: false`.',
      ),
    class: z
      .enum(['interactive_visible', 'interactive_buffered', 'background'])
      .default('interactive_visible')
      .describe(
        'Class of its recognition: the best class first. `background`, for files, rests while replies are generated for others.',
      ),
    agent_id: z
      .string()
      .optional()
      .describe('The agent to which final text goes as turns. Default: none; text only.'),
    turns: z
      .enum(['hands_free', 'push_to_talk'])
      .default('hands_free')
      .describe('With `agent_id`: a pause ends a turn, or EndUtteranceRequest does.'),
    end_of_turn: z
      .enum(['silence', 'sentence'])
      .default('silence')
      .describe(
        'With `hands_free`: `sentence` waits for more speech while the text is an unfinished sentence.',
      ),
    sentence_wait_ms: z
      .int()
      .min(0)
      .max(30_000)
      .default(2000)
      .describe('Longest wait for more speech with `end_of_turn: sentence`.'),
    barge_in: z
      .boolean()
      .default(true)
      .describe("With `agent_id`: speech cancels the agent's turns that have not ended."),
    variables: variables.describe('Values for templates and filters of the turns.'),
  }),
  EndUtteranceRequest: request('EndUtteranceRequest', { session_id, stream }),
  FinishSpeechRequest: request('FinishSpeechRequest', { session_id, stream }),
  CloseSpeechRequest: request('CloseSpeechRequest', { session_id, stream }),
  ReplyHeardRequest: request('ReplyHeardRequest', {
    session_id,
    turn_id,
    characters: z
      .int()
      .min(0)
      .describe('Number of characters (UTF-16 units) of the reply that the user has heard.'),
  }),
} as const;

/** What a TurnStarted of a stream has besides. */
export const spokenTurnFields = {
  stream: stream
    .optional()
    .describe('The stream that the turn was spoken on; `reply_to` is its OpenSpeechRequest.'),
  text: z.string().optional().describe('What was said; only with `stream`.'),
};

/** Times before a spoken turn, for its diagnostics. */
export const speechTimesSchema = z.object({
  silence_ms: z.number().describe('From the end of speech to the end of the pause that ended it.'),
  recognition_ms: z.number().describe('From there to the final text.'),
  wait_ms: z.number().describe('From there to TurnStarted: waiting for the end of a sentence.'),
});

export type SpeechTimes = z.output<typeof speechTimesSchema>;

const wordSchema = z.object({
  text: z.string().describe('The word, with its punctuation.'),
  begin_ms: z.number().describe('Its begin, in ms since the beginning of the stream.'),
  end_ms: z.number().describe('Its end.'),
  probability: z.number().describe('0 to 1.'),
});

/** Frames about streams of audio. */
export const speechSchemas = {
  OpenSpeechResponse: reply('OpenSpeechResponse', {
    stream,
    credit_bytes: z.int().describe('Bytes of samples that may be sent before the first SpeechCredit.'),
    model: z.string().describe('Catalog name of the recogniser.'),
    vad_model: z.string().describe('Catalog name of the model that finds speech.'),
  }),
  SpeechCredit: z.object({
    type: z.literal('SpeechCredit'),
    stream,
    bytes: z.int().describe('Bytes of samples that may be sent besides those granted before.'),
  }),
  SpeechStarted: z.object({
    type: z.literal('SpeechStarted'),
    stream,
    segment,
    begin_ms,
    probability: z.number().describe('Mean probability of speech so far.'),
  }),
  SpeechEnded: z.object({
    type: z.literal('SpeechEnded'),
    stream,
    segment,
    begin_ms,
    end_ms,
    probability: z.number().describe('Mean probability of speech.'),
    cut: z.boolean().describe('The segment reached `max_segment_ms`: speech goes on in the next one.'),
  }),
  SpeechText: z.object({
    type: z.literal('SpeechText'),
    stream,
    segment,
    final: z
      .boolean()
      .describe('`false`: the text so far, which the next SpeechText of the segment replaces.'),
    text: z.string().describe('What was said; empty if it was no speech.'),
    begin_ms,
    end_ms: z.number().describe('End of the audio that was recognised.'),
    language: z.string().describe('ISO 639-1; empty without text.'),
    probability: z.number().describe('Geometric mean over the tokens, 0 to 1.'),
    words: z.array(wordSchema).optional().describe('With `words` of the OpenSpeechRequest.'),
  }),
  SpeechClosed: z
    .object({
      type: z.literal('SpeechClosed'),
      stream,
      reason: z
        .enum(['finished', 'closed', 'failed'])
        .describe('By FinishSpeechRequest, by CloseSpeechRequest, or for an `error`.'),
      heard_ms: z.number().describe('Milliseconds of audio that were heard.'),
      error: z.object(errorFields).optional().describe('Why it failed.'),
    })
    .describe('The last frame of a stream. Audio that arrives afterwards is dropped.'),
} as const;
