import type { Knowledge } from '../../../protocol/components.js';
import type { OwnCitation } from '../../interaction.js';

/** Opens and closes a quotation. */
export const quotationMark = '"';

/**
 * Returns the citations of a reply whose quotations are spans of the records, which come best first: one for each quotation,
 * of the best record that has it. A reply that was cut may end within a quotation.
 */
export function quotations(reply: string, records: readonly Knowledge[]): OwnCitation[] {
  const citations: OwnCitation[] = [];
  for (let open = reply.indexOf(quotationMark); open >= 0; ) {
    const close = reply.indexOf(quotationMark, open + 1);
    const end = close < 0 ? reply.length : close;
    const citation = cite(reply.slice(open + 1, end), open + 1, records);
    if (citation !== undefined) citations.push(citation);
    open = close < 0 ? -1 : reply.indexOf(quotationMark, close + 1);
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
