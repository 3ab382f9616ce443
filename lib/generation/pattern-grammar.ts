import { halfCharacterIn } from '../boundary/arguments.js';

/** Maximum number of characters of a pattern. */
const longest = 1000;

/** Maximum number of repetitions in one quantifier. */
const maxRepetitions = 1000;

/** Classes by escape. Blanks are the ones that JSON strings may hold unescaped. */
const escapes: Readonly<Record<string, string>> = { d: '0-9', w: 'A-Za-z0-9_', s: ' ' };

/**
 * Returns a GBNF expression for the content of a JSON string that a regular expression matches, as in JSON Schema: anywhere,
 * unless it has ^ and $. Supports literals, classes, groups, alternatives and quantifiers. Quotes, backslashes and control
 * characters are left out of classes. `any`: the rule of one character; `refuse`: called for an unsupported construct.
 */
export function patternGrammar(pattern: string, any: string, refuse: (problem: string) => never): string {
  if (pattern.length > longest) refuse(`has more than ${longest} characters`);
  const half = halfCharacterIn(pattern);
  if (half !== undefined) refuse(half);
  const parser = new Parser([...pattern], refuse);
  const { begins, body, ends } = parser.whole();
  return `${begins ? '' : `${any}* `}(${body})${ends ? '' : ` ${any}*`}`;
}

class Parser {
  readonly #characters: readonly string[];
  readonly #refuse: (problem: string) => never;
  #at = 0;
  #depth = 0;
  #topLevelAlternatives = false;

  constructor(characters: readonly string[], refuse: (problem: string) => never) {
    this.#characters = characters;
    this.#refuse = refuse;
  }

  whole(): { begins: boolean; body: string; ends: boolean } {
    const begins = this.#take('^');
    const body = this.#alternatives();
    const ends = this.#take('$');
    if (this.#at < this.#characters.length) this.#refuse(`"${this.#peek()}" cannot be enforced where it is`);
    // ^a|b$ anchors each alternative at one end only.
    if ((begins || ends) && this.#topLevelAlternatives)
      this.#refuse('put a group around the alternatives: ^(a|b)$');
    return { begins, body, ends };
  }

  #alternatives(): string {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    if (this.#depth === 0) this.#topLevelAlternatives = options.length > 1;
    return options.join(' | ');
  }

  #sequence(): string {
    const items: string[] = [];
    for (let next = this.#peek(); next !== undefined && !'|)$'.includes(next); next = this.#peek())
      items.push(this.#quantified());
    return items.length === 0 ? '""' : items.join(' ');
  }

  #quantified(): string {
    const atom = this.#atom();
    const next = this.#peek();
    if (next === undefined || !'*+?{'.includes(next)) return atom;
    const quantifier = next === '{' ? this.#counted() : (this.#next() as string);
    if (this.#peek() === '?') this.#refuse('lazy quantifiers cannot be enforced');
    return `(${atom})${quantifier}`;
  }

  #counted(): string {
    const rest = this.#characters.slice(this.#at).join('');
    const found = /^\{(\d{1,4})(,(\d{1,4})?)?\}/.exec(rest);
    if (found === null) return this.#refuse('a quantifier such as {2,5} is expected');
    this.#at += found[0].length;
    const [least, greatest] = [Number(found[1]), Number(found[3] ?? found[1])];
    if (Math.max(least, greatest) > maxRepetitions) this.#refuse(`more than ${maxRepetitions} repetitions`);
    if (greatest < least) this.#refuse(`{${least},${greatest}} allows nothing`);
    return found[0];
  }

  #atom(): string {
    const character = this.#next() as string;
    if (character === '(') return this.#group();
    if (character === '[') return this.#class();
    if (character === '.') return '[^"\\\\\\x00-\\x1f\\x7f]';
    if (character === '\\') return this.#escape();
    if ('*+?{^'.includes(character)) return this.#refuse(`"${character}" cannot be enforced where it is`);
    return this.#literal(character);
  }

  #group(): string {
    if (this.#take('?') && !this.#take(':'))
      return this.#refuse('look-around and named groups cannot be enforced');
    this.#depth++;
    const body = this.#alternatives();
    this.#depth--;
    if (!this.#take(')')) this.#refuse('a ) is missing');
    return `(${body})`;
  }

  #escape(): string {
    const escaped = this.#next();
    if (escaped === undefined) return this.#refuse('it ends with a backslash');
    const known = escapes[escaped];
    if (known !== undefined) return `[${known}]`;
    if (/[A-Za-z0-9]/.test(escaped)) return this.#refuse(`\\${escaped} cannot be enforced`);
    return this.#literal(escaped);
  }

  #class(): string {
    const negated = this.#take('^');
    let body = '';
    while (this.#peek() !== ']') {
      const from = this.#classCharacter();
      const isRange = [...from].length > 1;
      if (isRange || this.#peek() !== '-' || this.#characters[this.#at + 1] === ']') {
        body += isRange ? from : inClass(from);
        continue;
      }
      this.#at++;
      const to = this.#classCharacter();
      if ([...to].length > 1 || to < from || spansForbidden(from, to))
        this.#refuse('a range of its classes cannot be enforced');
      body += `${inClass(from)}-${inClass(to)}`;
    }
    this.#at++;
    if (negated) return `[^${body}"\\\\\\x00-\\x1f\\x7f]`;
    return body === '' ? this.#refuse('an empty class allows nothing') : `[${body}]`;
  }

  /** One character, or the ranges of an escape. */
  #classCharacter(): string {
    const character = this.#next();
    if (character === undefined) return this.#refuse('a ] is missing');
    if (character === '"' || character < ' ')
      return this.#refuse('quotes and control characters cannot be in a class');
    if (character !== '\\') return character;
    const escaped = this.#next();
    if (escaped === undefined || escaped === '\\') return this.#refuse('a backslash cannot be in a class');
    if (/[A-Za-z0-9]/.test(escaped))
      return escapes[escaped] ?? this.#refuse(`\\${escaped} cannot be enforced`);
    return escaped;
  }

  /** A character as JSON writes it in a string. */
  #literal(character: string): string {
    const written = JSON.stringify(character).slice(1, -1);
    return `"${written.replace(/[\\"]/g, '\\$&')}"`;
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #next(): string | undefined {
    return this.#characters[this.#at++];
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }
}

const inClass = (character: string) => (/[\\\]^-]/.test(character) ? `\\${character}` : character);

const spansForbidden = (from: string, to: string) => ['"', '\\'].some((each) => from <= each && each <= to);
