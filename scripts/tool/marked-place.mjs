import { Stop } from './stop.mjs';

/** Returns the part of `text`, the content of `file`, between the lines `<!-- begin NAME -->` and `<!-- end NAME -->`. */
export function markedPlace(file, text, name) {
  const [from, to] = bounds(file, text, name);
  return text.slice(from, to).trim();
}

/** `text` with `content` there. */
export function withMarkedPlace(file, text, name, content) {
  const [from, to] = bounds(file, text, name);
  return `${text.slice(0, from)}\n\n${content}\n\n${text.slice(to)}`;
}

function bounds(file, text, name) {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Stop(`${file} lacks the lines ${begin} and ${end}`);
  return [from + begin.length, to];
}
