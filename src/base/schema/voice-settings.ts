import { z } from 'zod';

const ms = (least: number, most: number) => z.int().min(least).max(most);

/** Longest segment of speech that a stream may keep, in ms. */
export const longestSegmentMs = 60_000;

/** When speech begins and ends. Absent fields take the values of the model's catalog entry, then those of the library. */
export const voiceSettingsSchema = z.strictObject({
  threshold: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe('Probability from which a window of 32 ms is speech. Default: 0.5.'),
  end_threshold: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Probability below which a window of speech is silence. Default: `threshold` - 0.15.'),
  min_speech_ms: ms(0, 10_000).optional().describe('Shorter speech is no segment. Default: 250.'),
  min_silence_ms: ms(0, 10_000).optional().describe('Shorter pauses end no segment. Default: 400.'),
  padding_ms: ms(0, 2000)
    .optional()
    .describe('Audio before and after a segment that belongs to it for the recogniser. Default: 160.'),
  max_segment_ms: ms(1000, longestSegmentMs)
    .optional()
    .describe(
      'A longer segment is cut at its longest pause, or where speech is least probable. Default: 30,000.',
    ),
});

export type VoiceSettings = z.output<typeof voiceSettingsSchema>;
