import { ellipsize, padEnd } from '../terminal/columns.js';
import { printable } from '../terminal/printable.js';
import type { Screen } from '../terminal/screen.js';

/** A line of a description: a title, and the value for people. A `detail` is shown by --all only. */
export type Fact = readonly [name: string, value: string, rank?: 'detail'];

export interface Description {
  facts: Fact[];
  /** The same for programs. */
  data: object;
  /** Defects of the file; empty if none was found. */
  problems: string[];
  /** Descriptions of the files that this one names. */
  files?: { title: string; path: string; description: Description }[];
}

export function factLines(
  { facts: known, files = [] }: Description,
  screen: Screen,
  all: boolean,
  indent = '',
): string[] {
  const facts = known.filter(([, , rank]) => all || rank !== 'detail');
  const width = Math.max(0, ...facts.map(([name]) => name.length));
  const room = screen.width - indent.length - width - 2;
  return [
    ...facts.map(([name, value]) => {
      const shown = screen.isTerminal ? ellipsize(printable(value), room) : printable(value);
      return `${indent}${screen.dim(padEnd(name, width))}  ${shown}`;
    }),
    ...files.flatMap(({ title, path, description }) => [
      '',
      `${indent}${screen.bold(title)}  ${printable(path)}`,
      ...factLines(description, screen, all, `${indent}  `),
    ]),
  ];
}
