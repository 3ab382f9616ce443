/** A slow reader of GBNF grammars, for tests of what makes them: matches texts, and draws random ones. */
type Node =
  | { kind: 'text'; text: string }
  | { kind: 'class'; negated: boolean; ranges: [number, number][] }
  | { kind: 'rule'; name: string }
  | { kind: 'any of'; options: Node[] }
  | { kind: 'all of'; items: Node[] }
  | { kind: 'repeat'; item: Node; least: number; most: number };

export class Gbnf {
  readonly #rules = new Map<string, Node>();

  constructor(grammar: string) {
    for (const line of grammar.split('\n')) {
      const [, name = '', body = ''] = /^([\w-]+) ::= (.*)$/.exec(line) ?? [];
      if (name === '') throw new Error(`no rule: ${line}`);
      const reader = new Reader(body);
      this.#rules.set(name, reader.alternatives());
      if (!reader.atEnd) throw new Error(`left over in ${line}`);
    }
  }

  accepts(text: string): boolean {
    const characters = [...text];
    return this.#ends(this.#rule('root'), characters, 0, new Map()).has(characters.length);
  }

  /** A random text; repetitions are short. */
  sample(next: () => number): string {
    return this.#draw(this.#rule('root'), next, 0);
  }

  #rule(name: string): Node {
    const rule = this.#rules.get(name);
    if (rule === undefined) throw new Error(`no rule ${name}`);
    return rule;
  }

  #ends(node: Node, text: readonly string[], at: number, known: Map<string, Set<number>>): Set<number> {
    if (node.kind === 'text') {
      const own = [...node.text];
      return new Set(own.every((character, i) => text[at + i] === character) ? [at + own.length] : []);
    }
    if (node.kind === 'class') return new Set(inClass(node, text[at]) ? [at + 1] : []);
    if (node.kind === 'any of')
      return new Set(node.options.flatMap((option) => [...this.#ends(option, text, at, known)]));
    if (node.kind === 'all of') {
      let ends = new Set([at]);
      for (const item of node.items) ends = this.#each(item, text, ends, known);
      return ends;
    }
    if (node.kind === 'rule') {
      const key = `${node.name} ${at}`;
      const found = known.get(key) ?? this.#ends(this.#rule(node.name), text, at, known);
      known.set(key, found);
      return found;
    }
    const all = new Set<number>(node.least === 0 ? [at] : []);
    let ends = new Set([at]);
    for (let count = 1; count <= node.most && ends.size > 0; count++) {
      ends = new Set(
        [...this.#each(node.item, text, ends, known)].filter((end) => count <= node.least || !all.has(end)),
      );
      if (count >= node.least) for (const end of ends) all.add(end);
    }
    return all;
  }

  #each(
    node: Node,
    text: readonly string[],
    starts: Set<number>,
    known: Map<string, Set<number>>,
  ): Set<number> {
    return new Set([...starts].flatMap((start) => [...this.#ends(node, text, start, known)]));
  }

  #draw(node: Node, next: () => number, depth: number): string {
    const below = (count: number) => Math.floor(next() * count);
    if (node.kind === 'text') return node.text;
    if (node.kind === 'rule') return this.#draw(this.#rule(node.name), next, depth + 1);
    if (node.kind === 'all of') return node.items.map((item) => this.#draw(item, next, depth)).join('');
    if (node.kind === 'any of') {
      // Deep down, the last alternative: a value without others in it.
      const index = depth > 40 ? node.options.length - 1 : below(node.options.length);
      return this.#draw(node.options[index] as Node, next, depth);
    }
    if (node.kind === 'class') return drawn(node, below);
    const most = Math.min(node.most, node.least + (depth > 40 ? 0 : below(4)));
    return Array.from({ length: most }, () => this.#draw(node.item, next, depth)).join('');
  }
}

function inClass({ negated, ranges }: Node & { kind: 'class' }, character: string | undefined): boolean {
  const code = character?.codePointAt(0);
  if (code === undefined) return false;
  return ranges.some(([from, to]) => from <= code && code <= to) !== negated;
}

function drawn(node: Node & { kind: 'class' }, below: (count: number) => number): string {
  if (!node.negated) {
    const [from, to] = node.ranges[below(node.ranges.length)] as [number, number];
    return String.fromCodePoint(from + below(to - from + 1));
  }
  for (;;) {
    const character = [...'aZ9 ß日😀-{}[],:'][below(13)] ?? 'x';
    if (inClass(node, character)) return character;
  }
}

/** Reads the right side of one rule. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  alternatives(): Node {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options.length === 1 ? (options[0] as Node) : { kind: 'any of', options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    for (this.#blanks(); !this.atEnd && !'|)'.includes(this.#text[this.#at] as string); this.#blanks())
      items.push(this.#repeated());
    return { kind: 'all of', items };
  }

  #repeated(): Node {
    const item = this.#atom();
    const rest = this.#text.slice(this.#at);
    const [all, mark, low, comma, high] = /^(?:([*+?])|\{(\d+)(,)?(\d+)?\})/.exec(rest) ?? [];
    if (all === undefined) return item;
    this.#at += all.length;
    const infinite = Number.POSITIVE_INFINITY;
    const least = mark === undefined ? Number(low) : mark === '+' ? 1 : 0;
    const most =
      mark === '?' ? 1 : mark !== undefined ? infinite : high ? Number(high) : comma ? infinite : least;
    return { kind: 'repeat', item, least, most };
  }

  #atom(): Node {
    if (this.#take('(')) {
      const inner = this.alternatives();
      if (!this.#take(')')) throw new Error(`no ) in ${this.#text}`);
      return inner;
    }
    if (this.#text[this.#at] === '"') return this.#literal();
    if (this.#text[this.#at] === '[') return this.#class();
    if (this.#take('.')) return { kind: 'class', negated: true, ranges: [] };
    const [name = ''] = /^[\w-]+/.exec(this.#text.slice(this.#at)) ?? [];
    if (name === '') throw new Error(`at ${this.#at} of ${this.#text}`);
    this.#at += name.length;
    return { kind: 'rule', name };
  }

  #literal(): Node {
    let text = '';
    for (this.#at++; this.#text[this.#at] !== '"'; ) text += this.#character();
    this.#at++;
    return { kind: 'text', text };
  }

  #class(): Node {
    this.#at++;
    const negated = this.#text[this.#at] === '^';
    if (negated) this.#at++;
    const ranges: [number, number][] = [];
    while (this.#text[this.#at] !== ']') {
      const from = this.#character().codePointAt(0) as number;
      const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']';
      if (isRange) this.#at++;
      ranges.push([from, isRange ? (this.#character().codePointAt(0) as number) : from]);
    }
    this.#at++;
    return { kind: 'class', negated, ranges };
  }

  #character(): string {
    const rest = this.#text.slice(this.#at);
    const [all = '', two, four, eight, escaped] =
      /^\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))|^[\s\S]/u.exec(rest) ?? [];
    const hex = two ?? four ?? eight;
    this.#at += all.length;
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return escaped === undefined ? all : ({ n: '\n', r: '\r', t: '\t' }[escaped] ?? escaped);
  }

  #take(character: string): boolean {
    this.#blanks();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #blanks(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }
}
