/** As the server keeps them: the latest lines, and the latest warnings and errors, which other lines do not push out. */
const maxLines = 500;

/** A line begins with its level. */
const severe = /^\{"level":"(warn|error|fatal)"/;

/** Returns the lines that a page keeps. */
export function latestLines(lines: readonly string[]): readonly string[] {
  let others = lines.length - maxLines;
  if (others <= 0) return lines;
  const warnings = lines.filter((line) => severe.test(line)).length;
  let surplus = warnings - maxLines;
  return lines.filter((line) => {
    const isOlder = others-- > 0;
    const isKept = severe.test(line) && surplus-- <= 0;
    return isKept || !isOlder;
  });
}
