export type WhisperType =
  | 'F32'
  | 'F16'
  | 'Q8_0'
  | 'Q4_0'
  | 'Q4_1'
  | 'Q5_0'
  | 'Q5_1'
  | 'Q2_K'
  | 'Q3_K'
  | 'Q4_K'
  | 'Q5_K'
  | 'Q6_K';
export const whisperTypes: Readonly<Record<WhisperType, object>>;
export function tinyWhisper(options?: { text?: string; type?: WhisperType; width?: 64 | 256 }): Buffer;
