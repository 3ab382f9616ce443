/** The C++ definition of an array of numbers, in lines of 120 columns. */
export function array(type, name, values) {
  const lines = [`const ${type} ${name}[${values.length}] = {`];
  let line = '   ';
  for (const value of values) {
    if (line.length + String(value).length + 2 > 120) {
      lines.push(line);
      line = '   ';
    }
    line += ` ${value},`;
  }
  return [...lines, line, '};', ''].join('\n');
}
