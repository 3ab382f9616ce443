import type { VoiceSettings } from '../base/schema/voice-settings.js';

const defaultVoice = {
  threshold: 0.5,
  lessAtEnd: 0.15,
  minSpeechMs: 250,
  minSilenceMs: 400,
  paddingMs: 160,
  maxSegmentMs: 30_000,
} as const;

/** All settings of a detector's stream. */
export type VoiceChoice = ReturnType<typeof voiceOptions>;

export function voiceOptions(given: VoiceSettings) {
  const threshold = given.threshold ?? defaultVoice.threshold;
  return {
    threshold,
    endThreshold: given.end_threshold ?? Math.max(0, threshold - defaultVoice.lessAtEnd),
    maxSegmentMs: given.max_segment_ms ?? defaultVoice.maxSegmentMs,
    paddingMs: given.padding_ms ?? defaultVoice.paddingMs,
    minSpeechMs: given.min_speech_ms ?? defaultVoice.minSpeechMs,
    minSilenceMs: given.min_silence_ms ?? defaultVoice.minSilenceMs,
  };
}

/** Returns a setting that contradicts another one; undefined if none does. */
export function voiceProblem(
  given: VoiceSettings,
): { field: keyof VoiceSettings; reason: string } | undefined {
  const { threshold, endThreshold, maxSegmentMs } = voiceOptions(given);
  if (endThreshold > threshold)
    return { field: 'end_threshold', reason: `at most the threshold, ${threshold}, is expected` };
  if ((given.min_speech_ms ?? 0) >= maxSegmentMs)
    return { field: 'min_speech_ms', reason: `less than max_segment_ms, ${maxSegmentMs}, is expected` };
  return undefined;
}
