import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyHeap, valueHeap } from '../../src/fairness/estimates.js';
import { type JsonLimits, JsonParser } from '../../src/protocol/json-parser.js';
import { refused } from '../helpers/errors.js';
import { testSeed } from '../helpers/random.js';

const limits: JsonLimits = { depth: 64, values: 1_000_000, fields: 10_000, stringBytes: 4 * 1024 * 1024 };

/** Parses with a pause wherever the parser looks at its clock. */
function parse(text: string | Buffer, given: Partial<JsonLimits> = {}): JsonParser {
  const parser = new JsonParser(Buffer.from(text), { ...limits, ...given });
  while (!parser.parse(() => true));
  return parser;
}

const refusal = (text: string | Buffer, given?: Partial<JsonLimits>) => refused(() => parse(text, given));

const key = fc.oneof(
  fc.string(),
  fc.string({
    unit: fc.constantFrom('"', '\\', '[', '{', ',', 'ß', '}', '\n', '東', '😀', '\ud800', '0', '7'),
  }),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(key, fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(
      key.filter((name) => name !== '__proto__'),
      tie('tree'),
      { maxKeys: 4 },
    ),
  ),
}));

describe('the parser of payloads', () => {
  it('gives what JSON.parse gives, and counts commas and containers', () => {
    const commasAndContainers = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const items = Object.values(value);
      return items.reduce(
        (sum: number, item) => sum + commasAndContainers(item),
        1 + Math.max(0, items.length - 1),
      );
    };
    fc.assert(
      fc.property(tree, fc.constantFrom(undefined, 2), (value, space) => {
        const json = JSON.stringify(value, undefined, space);
        const expected: unknown = JSON.parse(Buffer.from(json).toString());
        const parser = parse(json);
        expect(parser.value).toStrictEqual(expected);
        expect(parser.values).toBe(commasAndContainers(expected));
      }),
      { seed: testSeed, numRuns: 3000 },
    );
  });

  it.each([
    ['indexes as keys', '{"1023":1}'],
    ['an index behind a number of another form', '{"1e3":1,"1023":1}'],
    ['an index behind a number with a zero', '{"01023":1,"1023":1}'],
    ['an index behind a number that is too large', '{"99999999999":1,"1023":1}'],
    ['indexes that grow', '{"1023":1,"2574":1}'],
    ['indexes that grow more and more', '{"0":1,"16":1,"800":1,"1800":1,"2800":1}'],
    ['arrays of one value', '[[[[[[[[[[1]]]]]]]]]]'],
    ['objects in arrays of one value', '[{"a":[{"b":[1]}]}]'],
    ['numbers', '[1,1.5,-2,"x"]'],
    ['new keys', '{"KEYa":1,"KEYb":1,"KEYc":1,"KEYd":1,"KEYe":1,"KEYf":1,"KEYg":1,"KEYh":1}'],
  ])('builds values no larger than they count: %s', (_, item) => {
    const text = `[${Array.from({ length: 2000 }, (_, n) => item.replaceAll('KEY', `k${n}`)).join(',')}]`;
    const before = process.memoryUsage().heapUsed;
    const parser = parse(text);
    const grown = process.memoryUsage().heapUsed - before;
    const counted = parser.values * valueHeap + parser.keys * keyHeap + 2 * text.length;
    // Half of what the parser makes are numbers and texts on its way.
    expect(grown / counted).toBeLessThan(6);
    expect(parser.value).toStrictEqual(JSON.parse(text));
  });

  it('takes what JSON.parse takes, and nothing else', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '"b":',
        '1',
        '-0',
        '0.5e3',
        '01',
        '1.',
        'true',
        'null',
        'nul',
      ],
      ...[
        ' ',
        '\t',
        '\n',
        '\v',
        '\\',
        '\\u0041',
        '\\x',
        '"\\n"',
        '"\n"',
        "'a'",
        '/*',
        'NaN',
        '1e999',
        '-',
        '+1',
      ],
    );
    const outcome = (run: () => unknown) => {
      try {
        return { value: run() };
      } catch {
        return 'refused';
      }
    };
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        const expected = outcome(() => JSON.parse(text));
        seen.add(expected === 'refused');
        expect(outcome(() => parse(text).value)).toStrictEqual(expected);
      }),
      { seed: testSeed, numRuns: 30_000 },
    );
    expect(seen.size).toBe(2);
  });

  it('pauses anywhere: in a long string, in its escapes, between values', () => {
    const value = {
      long: `${'x'.repeat(9000)}\\"ß`.repeat(5),
      many: Array.from({ length: 5000 }, (_, i) => `${i}`),
    };
    for (let shift = 0; shift < 40; shift++) {
      expect(parse(' '.repeat(shift) + JSON.stringify(value)).value).toStrictEqual(value);
    }
    let pauses = 0;
    const parser = new JsonParser(Buffer.from(JSON.stringify(value)), limits);
    while (!parser.parse(() => true)) pauses++;
    expect(pauses).toBeGreaterThan(10);
  });

  it('converts a long string in steps, whatever is at their ends', () => {
    const plain = 'x'.repeat(70_000);
    const long = ['ß', '東', '😀', '\\n', '\\u00e9', '\\ud83d\\ude00', '\\\\u12', '\\\\', 'a\\"'].map(
      (unit) => unit.repeat(25_000),
    );
    for (const text of [...long, `${plain}${long[2]}${plain}`, `${plain}\\n`, `${long.join('x')}${plain}`])
      for (let shift = 0; shift < 7; shift++) {
        const json = `["${'x'.repeat(shift)}${text}","${text}"]`;
        // Not compared by the test runner, which shows texts that differ.
        expect(JSON.stringify(parse(json).value) === JSON.stringify(JSON.parse(json)), `${shift}`).toBe(true);
      }
  });

  it('looks at its clock between the pieces of a string', () => {
    // Each takes longer than all of the bytes between two looks.
    const text = '\\u6771'.repeat(100_000);
    const parser = new JsonParser(Buffer.from(`"${text}"`), limits);
    let longest = 0;
    const parsed: string[] = [];
    const { parse: original } = JSON;
    JSON.parse = (piece: string) => {
      parsed.push(piece);
      return original(piece);
    };
    try {
      while (!parser.parse(() => true)) {
        longest = Math.max(longest, parsed.splice(0).join('').length);
      }
    } finally {
      JSON.parse = original;
    }
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(64 * 1024);
  });

  it('refuses what is wrong in the middle of a long string', () => {
    const text = '😀'.repeat(30_000);
    const before = Buffer.from(`{"a":"${text}`);
    const after = Buffer.from(`${text}"}`);
    const wrong = (bytes: number[]) => refusal(Buffer.concat([before, Buffer.from(bytes), after]));
    expect(wrong([0xff])).toMatchObject({ code: 1001, message: 'payload: not valid UTF-8' });
    expect(wrong([0x80, 0x80, 0x80, 0x80])).toMatchObject({
      code: 1001,
      message: 'payload: not valid UTF-8',
    });
    expect(wrong([0x5c, 0x78])).toMatchObject({
      code: 1001,
      message: `payload: not valid JSON: "\\"${'😀'.repeat(19)}\\ud83d", which begins at byte 5, is not a JSON value`,
    });
  });

  it.each([
    ['{"a":1,"a":2}', 'a: occurs twice'],
    ['{"a":1,"\\u0061":2}', 'a: occurs twice'],
    ['{"x":[0,{"b":{"c":1,"d":2,"c":1}}]}', 'x[1].b.c: occurs twice'],
    ['{"toString":1,"toString":1}', 'toString: occurs twice'],
    ['{"1":1,"1":1}', '1: occurs twice'],
    ['{"variables":{"__proto__":1}}', 'variables.__proto__: no field can have this name'],
    ['{"variables":{"\\u005f\\u005fproto__":1}}', 'variables.__proto__: no field can have this name'],
    ['{"x":[{"__pr\\u006fto__":{}}]}', 'x[0].__proto__: no field can have this name'],
  ])('refuses with 1004 %s', (text, message) => {
    expect(refusal(text)).toMatchObject({ code: 1004, message, details: { path: message.split(':')[0] } });
  });

  it('takes names that objects inherit', () => {
    const text = '{"constructor":1,"toString":{"hasOwnProperty":2},"valueOf":[]}';
    expect(parse(text).value).toStrictEqual(JSON.parse(text));
  });

  it.each([
    ['[[[]]]', { depth: 2 }, 'payload: nested deeper than 2 levels'],
    ['[1,2,3,4]', { values: 3 }, 'payload: more than 3 values'],
    ['{"a":{"b":1,"c":2,"d":3}}', { fields: 2 }, 'payload: more than 2 fields in one object'],
    ['{"a":["","12345"]}', { stringBytes: 4 }, 'a[1]: a string is longer than 4 bytes, the limit'],
    ['{"a":"12345', { stringBytes: 4 }, 'a: a string is longer than 4 bytes, the limit'],
    [`{"a":${'1'.repeat(1025)}}`, {}, 'a: a number is longer than 1024 bytes, the limit'],
  ])('refuses with 1001 what is over a limit: %s', (text, given, message) => {
    expect(refusal(text, given)).toMatchObject({ code: 1001, message });
  });

  it.each([
    ['', 'payload: is empty; a JSON object is expected'],
    ['\ufeff{}', 'payload: not valid JSON: it begins with a byte order mark'],
    ['{"a":1', 'payload: not valid JSON: it ends where "," or a closing bracket is expected'],
    ['{"a', 'payload: not valid JSON: it ends where a closing quote is expected'],
    ['{"a":1,}', 'payload: not valid JSON: a field name is expected at byte 7, not "}"'],
    ['[1 ß]', 'payload: not valid JSON: "," or a closing bracket is expected at byte 3, not "ß"'],
    ['{"a":tru}', 'payload: not valid JSON: "tru", which begins at byte 5, is not a JSON value'],
    ['{"a":"\\x"}', 'payload: not valid JSON: "\\"\\\\x\\"", which begins at byte 5, is not a JSON value'],
    ['["a\tb"]', 'payload: not valid JSON: a control character that is not escaped at byte 3'],
  ])('says what is wrong with %j', (text, message) => {
    expect(refusal(text)).toMatchObject({ code: 1001, message });
  });

  it('refuses what is not UTF-8, wherever it is', () => {
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe6, 0x9d], [0xf4, 0x90, 0x80, 0x80]]) {
      for (const [before, after] of [
        ['{"a":"', '"}'],
        ['{"', '":1}'],
        ['[1,', ']'],
        ['["\\n', '"]'],
        ['["', ''],
      ]) {
        const text = Buffer.concat([
          Buffer.from(before as string),
          Buffer.from(bytes),
          Buffer.from(after as string),
        ]);
        expect(refusal(text), `${before}${bytes}${after}`).toMatchObject({
          code: 1001,
          message: 'payload: not valid UTF-8',
        });
      }
    }
  });
});
