import { maxRowCharacters } from './csv-rows.js';

/** A line and its number, from 1; `text` is undefined if it is too long. */
export interface Line {
  number: number;
  text: string | undefined;
}

/** Cuts a stream of text into lines without holding a line of more than `longest` characters. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  longest = maxRowCharacters,
): AsyncGenerator<Line> {
  let number = 1;
  let parts: string[] = [];
  let length = 0;
  const take = (): Line => {
    const line = { number: number++, text: length > longest ? undefined : parts.join('') };
    parts = [];
    length = 0;
    return line;
  };
  for await (const piece of pieces) {
    let begin = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', begin)) {
      length += end - begin;
      if (length <= longest) parts.push(piece.slice(begin, end));
      begin = end + 1;
      yield take();
    }
    length += piece.length - begin;
    if (length <= longest) parts.push(piece.slice(begin));
    else parts = [];
  }
  if (length > 0) yield take();
}
