/** The shortest series of equal steps that is written as one. */
const shortestSeries = 4;

/** The C++ definition of an array of numbers, as expand() of native/core/values/table_runs.h reads it, in lines of 120 columns. */
export function array(type, name, values) {
  return definition(type, name, values.length, `expand<${type}, ${values.length}>`, runsOf(values));
}

/** The same for rows of numbers, as sum_columns() reads them: numbers of one column are near each other. */
export function arrayOfRows(type, name, values, columns) {
  const differences = Array.from({ length: columns }, (_, column) => {
    const numbers = values.filter((_, at) => at % columns === column);
    return numbers.map((number, row) => number - (numbers[row - 1] ?? 0));
  });
  const expanded = `sum_columns<${type}, ${values.length}, ${columns}>`;
  return definition(type, name, values.length, expanded, runsOf(differences.flat()));
}

function definition(type, name, size, expanded, runs) {
  const lines = [`constinit const std::array<${type}, ${size}> ${name} = ${expanded}({`];
  let line = '   ';
  for (const number of runs) {
    if (line.length + String(number).length + 2 > 120) {
      lines.push(line);
      line = '   ';
    }
    line += ` ${number},`;
  }
  return [...lines, line, '});', ''].join('\n');
}

/** The C++ declaration of such an array. */
export function declaration(type, name, values) {
  return `extern const std::array<${type}, ${values.length}> ${name};`;
}

function runsOf(values) {
  const runs = [];
  let others = [];
  const flush = () => {
    if (others.length > 0) runs.push(others.length, ...others);
    others = [];
  };
  for (let at = 0; at < values.length; ) {
    const step = values[at + 1] - values[at];
    let end = at + 1;
    while (end < values.length && values[end] - values[end - 1] === step) end++;
    if (end - at >= shortestSeries) {
      flush();
      runs.push(at - end, values[at], step);
    } else {
      end = at + 1;
      others.push(values[at]);
    }
    at = end;
  }
  flush();
  return runs;
}
