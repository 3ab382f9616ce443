import type { TranscribedSegment } from '../../speech/divided-text.js';
import { printable } from '../terminal/printable.js';
import { type Cue, cuesOf } from './cues.js';

/** How a transcript is printed: lines for each piece of a segment, in order. */
export interface TranscriptFormat {
  /** Printed before the first segment. */
  readonly head: string;
  /** Whether the transcripts of several files may follow each other. */
  readonly joins: boolean;
  pieces(segment: TranscribedSegment): Cue[];
  /** `number`: of the piece, from 1. */
  print(piece: Cue, number: number): string;
}

/** 01:02:03,456 with `,`. */
function clock(ms: number, mark: ',' | '.'): string {
  const pad = (value: number, width = 2) => String(Math.floor(value)).padStart(width, '0');
  return `${pad(ms / 3_600_000)}:${pad((ms / 60_000) % 60)}:${pad((ms / 1000) % 60)}${mark}${pad(ms % 1000, 3)}`;
}

/** A text of a subtitle cannot hold its arrow, or an empty line. */
const cueText = (text: string) => printable(text.replaceAll(/-{2,}>/g, '->').replaceAll(/\n+/g, ' '));

export const transcriptFormats = {
  txt: { head: '', joins: true, pieces: (segment) => [segment], print: ({ text }) => printable(text) },
  srt: {
    head: '',
    joins: false,
    pieces: cuesOf,
    print: ({ text, beginMs, endMs }, number) =>
      `${number}\n${clock(beginMs, ',')} --> ${clock(endMs, ',')}\n${cueText(text)}\n`,
  },
  vtt: {
    head: 'WEBVTT\n',
    joins: false,
    pieces: cuesOf,
    print: ({ text, beginMs, endMs }) =>
      `${clock(beginMs, '.')} --> ${clock(endMs, '.')}\n${cueText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}\n`,
  },
} as const satisfies Record<string, TranscriptFormat>;
