import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServerError, serverError } from '../../src/protocol/errors.js';
import { requestSchemas } from '../../src/protocol/frames.js';
import { leadingId } from '../../src/protocol/leading-id.js';
import { idOf, jsonLimits, parseRequest } from '../../src/protocol/request.js';
import { refused } from '../helpers/errors.js';
import { testSeed } from '../helpers/random.js';
import { parseObject } from './parse-object.js';

const parse = (value: object) => parseRequest(value as Record<string, unknown>);
const refusedPayload = (payload: Buffer | string) => refused(() => parseObject(Buffer.from(payload)));

it("a number beyond JavaScript's range is called by its name", () => {
  const report = parseObject(Buffer.from('{"type":"ThrottleReport","id":1,"level":1e400}'));
  expect(refused(() => parse(report)).message).toBe('level: a number is expected, not Infinity');
});

it("a client's mistake is refused without the cost of a stack", () => {
  expect(refusedPayload('{').stack).not.toContain('\n');
  expect(serverError(1009, 'a defect').stack).toContain('request.test.ts');
  expect(new Error('another').stack).toContain('request.test.ts');
});

describe('a payload', () => {
  it('is one JSON object', () => {
    expect(parseObject(Buffer.from(' {"type":"Ping"} '))).toEqual({ type: 'Ping' });
    for (const payload of ['', '[]', 'null', '7', '"x"', '{', '{}{}', '{"a":1,}', '\ufeff{}']) {
      expect(refusedPayload(payload), payload).toMatchObject({ code: 1001, name: 'MalformedFrame' });
    }
  });

  it('is valid UTF-8: overlong forms, surrogates and cut sequences are refused', () => {
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe6, 0x9d], [0xf4, 0x90, 0x80, 0x80]]) {
      const payload = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(refusedPayload(payload).message).toContain('UTF-8');
    }
  });

  it('is refused before it is parsed when it nests too deep', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
    expect(parseObject(Buffer.from(nested(jsonLimits.depth)))).toBeTypeOf('object');
    expect(refusedPayload(nested(jsonLimits.depth + 1)).message).toContain('nested deeper than 64');
    expect(refusedPayload('['.repeat(10_000_000)).message).toContain('nested deeper than 64');
  });

  it('is refused before it is parsed when it holds too many values', () => {
    expect(refusedPayload(`{"a":[${'0,'.repeat(jsonLimits.values)}0]}`).message).toContain(
      'more than 1000000 values',
    );
  });
});

describe('the id of a payload that is not parsed', () => {
  it.each([
    ['{"type":"Ping","id":7,"x":[[[[', 7],
    [' { "x" : {"id": 1}, "y": [{"id":2}, "\\"id\\":3"], "id" : "a\\"b" , ', 'a"b'],
    ['{"id":7}x', 7],
    ['{"id":7', 7],
    ['{"id":"cut', null],
    ['{"id":-1,"x":', null],
    ['{"id":{"id":1}}', null],
    ['[{"id":1}]', null],
    ['"id":1', null],
    [`{"x":"${'a'.repeat(5000)}","id":1`, null],
    ['', null],
  ])('of %s is %s', (payload, id) => {
    expect(leadingId(Buffer.from(payload))).toBe(id);
  });

  it('is none when its bytes are not UTF-8', () => {
    expect(leadingId(Buffer.from('{"type":"Ping","id":"\xff"}', 'latin1'))).toBe(null);
  });

  it('is looked for in anything without harm', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        leadingId(Buffer.concat([Buffer.from('{'), bytes]));
      }),
      { seed: testSeed },
    );
  });
});

describe('a request', () => {
  it('has a known type; a misspelt one is told the nearest', () => {
    expect(refused(() => parse({ id: 1 }))).toMatchObject({ code: 1002, name: 'UnknownFrameType' });
    expect(refused(() => parse({ id: 1, type: 7 })).code).toBe(1002);
    expect(refused(() => parse({ id: 1, type: 'toString' })).code).toBe(1002);
    expect(refused(() => parse({ id: 1, type: 'TurnRequst' }))).toMatchObject({
      code: 1002,
      details: { nearest: 'TurnRequest' },
      message: expect.stringContaining('did you mean "TurnRequest"?'),
    });
  });

  it('has an id: an integer from 0 or a short string', () => {
    for (const id of [0, 7, Number.MAX_SAFE_INTEGER, 'a', 'x'.repeat(128)]) {
      expect(parse({ type: 'Ping', id })).toEqual({ type: 'Ping', id });
      expect(idOf({ id })).toBe(id);
    }
    for (const id of [undefined, null, -1, 1.5, 1e300, '', 'x'.repeat(129), {}, [], true]) {
      expect(refused(() => parse({ type: 'Ping', id }))).toMatchObject({
        code: 1004,
        details: { path: 'id' },
      });
      expect(idOf({ id })).toBeNull();
    }
  });

  it('names the path of a field that is missing, wrong, unknown or out of range', () => {
    const search = {
      type: 'SearchEmbeddedStringStorageRequest',
      id: 1,
      session_id: 's',
      name: 'n',
      text: 't',
    };
    const agent = { type: 'CreateAgentRequest', id: 1, session_id: 's' };
    const cases: [object, string, string?][] = [
      [{ type: 'DestroySessionRequest', id: 1 }, 'session_id'],
      [{ ...search, text: 7 }, 'text'],
      [{ ...search, top_k: 0 }, 'top_k'],
      [{ ...search, top_k: 1001 }, 'top_k'],
      [{ ...search, threshold: 2.5 }, 'threshold'],
      [{ ...search, mode: 'sparse' }, 'mode'],
      [{ ...search, mode: 'dense', rrf: { k: 10 } }, 'rrf'],
      [{ ...search, mode: 'lexical', threshold: 0.5 }, 'threshold'],
      [{ ...search, rrf: { weights: { dense: -1 } } }, 'rrf.weights.dense'],
      [{ ...search, rrf: { weights: { lexcal: 1 } } }, 'rrf.weights.lexcal', 'lexical'],
      [{ ...search, topk: 3 }, 'topk', 'top_k'],
      [{ ...agent, graph: {} }, 'graph.nodes'],
      [{ ...agent, graph: { nodes: [] } }, 'graph.nodes'],
      [{ ...agent, graph: { nodes: [{ id: 'a' }] } }, 'graph.nodes[0].type'],
      [{ ...agent, graph: { nodes: [{ id: 'a', type: 'b', parms: {} }] } }, 'graph.nodes[0].parms', 'params'],
      [{ ...agent, graph: { nodes: [{ id: 'a', type: 'b' }], edges: [['a']] } }, 'graph.edges[0]'],
    ];
    for (const [frame, path, nearest] of cases) {
      const error = refused(() => parse(frame));
      expect(error, path).toMatchObject({ code: 1004, name: 'InvalidField', details: { path } });
      expect(error.message).toContain(path);
      if (nearest !== undefined) expect(error.details).toEqual({ path, nearest });
    }
  });

  it('names the first string that is none', () => {
    const create = { type: 'CreateEmbeddedStringStorageRequest', id: 1, session_id: 's', name: 'n' };
    const error = refused(() => parse({ ...create, strings: ['a', 'b', 7, null] }));
    expect(error).toMatchObject({ code: 1004, details: { path: 'strings[2]' } });
    expect(refused(() => parse({ ...create, strings: 'a' })).details).toEqual({ path: 'strings' });
  });

  it('is refused briefly, however long an unknown name is', () => {
    const error = refused(() => parse({ type: 'Ping', id: 1, ['x'.repeat(1_000_000)]: 1 }));
    expect(error.code).toBe(1004);
    expect(JSON.stringify({ ...error, message: error.message }).length).toBeLessThan(1000);
    expect(refused(() => parse({ type: 'y'.repeat(1_000_000), id: 1 })).message.length).toBeLessThan(200);
  });

  it('costs one error, however many of its items are wrong', () => {
    const nodes = Array.from({ length: 500_000 }, () => 1);
    const error = refused(() =>
      parse({ type: 'CreateAgentRequest', id: 1, session_id: 's', graph: { nodes } }),
    );
    expect(error).toMatchObject({ code: 1004, details: { path: 'graph.nodes' } });
    const search = (lexical: object) =>
      refused(() =>
        parse({
          ...{ type: 'SearchEmbeddedStringStorageRequest', id: 1, session_id: 's', name: 'n', text: 't' },
          ...{ mode: 'lexical', lexical },
        }),
      );
    const many = Array.from({ length: 500_000 }, () => 1);
    for (const [lexical, path, message] of [
      [{ stopwords: many }, 'lexical.stopwords', 'at most 10000 is expected, not an array of 500000'],
      [{ stopwords: ['a', '', 1] }, 'lexical.stopwords[1]', 'a string of 1 to 256 characters is expected'],
      [{ synonyms: [many] }, 'lexical.synonyms[0]', 'at most 10000 is expected'],
      [{ synonyms: many }, 'lexical.synonyms', 'at most 10000 is expected'],
      [
        { synonyms: [['a'], ['b', 7]] },
        'lexical.synonyms[1][1]',
        'a string of 1 to 256 characters is expected',
      ],
      [{ synonyms: ['ab'] }, 'lexical.synonyms[0]', 'an array of strings is expected'],
    ] as const) {
      const { code, details, message: told } = search(lexical);
      expect([code, details]).toEqual([1004, { path }]);
      expect(told).toContain(message);
    }
    const words = Array.from({ length: 6000 }, (_, n) => `w${n}`);
    expect(search({ synonyms: [words, words] }).message).toContain('at most 10000 strings in all');
  });

  it('is parsed or refused with a code, and never anything else, however mutated', () => {
    const types = Object.keys(requestSchemas);
    const junk = fc.anything({
      maxDepth: 3,
      withNullPrototype: false,
      key: fc.constantFrom('__proto__', 'id', 'x'),
    });
    const fields = fc.dictionary(
      fc.constantFrom(
        'id',
        'session_id',
        'name',
        'strings',
        'graph',
        'text',
        'top_k',
        'rrf',
        'variables',
        '__proto__',
      ),
      junk,
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...types, 'X'),
        fields,
        fc.uint8Array({ maxLength: 3 }),
        (type, rest, noise) => {
          const payload = Buffer.from(JSON.stringify({ id: 1, ...rest, type }) ?? '{}');
          for (const [index, byte] of noise.entries())
            payload[(byte * 31 + index * 7) % payload.length] = byte;
          try {
            expect(types).toContain(parseRequest(parseObject(payload)).type);
          } catch (error) {
            expect(error).toBeInstanceOf(ServerError);
            expect([1001, 1002, 1004]).toContain((error as ServerError).code);
          }
        },
      ),
      { seed: testSeed, numRuns: 3000 },
    );
  });
});
