import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DumpModule } from './minidump.js';

/** The functions of a module, by their start. */
interface SymbolTable {
  starts: number[];
  names: string[];
}

/** Names of functions from symbol files in the layout of minidump_stackwalk: `NAME/ID/NAME.sym`. */
export class Symbols {
  readonly #folder: string;
  readonly #tables = new Map<string, SymbolTable | undefined>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the function that contains the offset of a module; undefined without a symbol file or a function there. */
  at(module: DumpModule, offset: number): string | undefined {
    const table = this.#table(module);
    if (table === undefined) return undefined;
    let low = 0;
    let high = table.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((table.starts[middle] as number) <= offset) low = middle + 1;
      else high = middle;
    }
    return table.names[low - 1];
  }

  #table(module: DumpModule): SymbolTable | undefined {
    const name = basename(module.path);
    const file = join(this.#folder, name, module.id, `${name}.sym`);
    if (!this.#tables.has(file))
      this.#tables.set(file, module.id !== '' && existsSync(file) ? readSymbols(file) : undefined);
    return this.#tables.get(file);
  }
}

function readSymbols(file: string): SymbolTable {
  const functions: [number, string][] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const match = /^(?:FUNC (?:m )?(\w+) \w+ \w+|PUBLIC (?:m )?(\w+) \w+) (.+)$/.exec(line);
    if (match !== null)
      functions.push([Number.parseInt((match[1] ?? match[2]) as string, 16), match[3] as string]);
  }
  functions.sort(([a], [b]) => a - b);
  return { starts: functions.map(([start]) => start), names: functions.map(([, name]) => name) };
}
