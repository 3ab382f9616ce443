import type { PageLine } from '../formats/pdf-lines.js';
import { pageText } from '../formats/pdf-text.js';

/** Returns the text of a recognised page; joinWords() joins the words that its lines divide. */
export function textOfScan(text: string): string {
  let isApart = true;
  const lines = text.split('\n').flatMap((line): PageLine[] => {
    const shown = line.trim();
    const begins = isApart;
    isApart = shown === '';
    return shown === '' ? [] : [{ text: shown, isApart: begins }];
  });
  return pageText(lines);
}
