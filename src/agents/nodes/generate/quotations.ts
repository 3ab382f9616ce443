import { anyQuotationMark } from '../../../../lib/internal.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { OwnCitation } from '../../interaction.js';

/**
 * Returns one citation per quotation of a reply whose quotations are spans of the records: of the best record that contains
 * it. `records` are sorted best first. Marks open and close quotations alternately. A truncated reply may end within a
 * quotation.
 */
export function quotations(reply: string, records: readonly Knowledge[]): OwnCitation[] {
  const citations: OwnCitation[] = [];
  const marks = [...reply.matchAll(anyQuotationMark)].map(({ index }) => index);
  for (let at = 0; at < marks.length; at += 2) {
    const begin = (marks[at] as number) + 1;
    const citation = cite(reply.slice(begin, marks[at + 1] ?? reply.length), begin, records);
    if (citation !== undefined) citations.push(citation);
  }
  return citations;
}

function cite(quoted: string, position: number, records: readonly Knowledge[]): OwnCitation | undefined {
  if (quoted === '') return undefined;
  for (const { storage, id, text, score, metadata } of records) {
    const start = text.indexOf(quoted);
    if (start < 0) continue;
    const end = start + quoted.length;
    const reply_end = position + quoted.length;
    return { kind: 'quote', storage, id, start, end, reply_start: position, reply_end, score, metadata };
  }
  return undefined;
}
