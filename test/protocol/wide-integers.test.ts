import { expect, it } from 'vitest';
import {
  parseWithWideIntegers,
  stringifyWithWideIntegers,
  wideIntegerOf,
} from '../../src/base/schema/wide-integers.js';
import { jsonArgument } from '../../src/cli/search/json-argument.js';
import { parseRequest, payloadParser } from '../../src/protocol/request.js';
import { refused } from '../helpers/errors.js';

const beyond = 9007199254740993n; // 2^53 + 1
const largest = 9223372036854775807n;

it('an integer is wide if a number would round it, and if it has at most 64 bits', () => {
  for (const value of [beyond, beyond - 1n, largest, -largest - 1n])
    expect(wideIntegerOf(String(value))).toBe(value);
  for (const token of ['0', '9007199254740991', '-9007199254740991', '9007199254740993.0', '1e18', '-0'])
    expect(wideIntegerOf(token), token).toBeUndefined();
  for (const token of [String(largest + 1n), String(-largest - 2n), '9'.repeat(30), '"9007199254740993"'])
    expect(wideIntegerOf(token), token).toBeUndefined();
});

it('JSON with wide integers is read and written without rounding, and strings of digits stay strings', () => {
  const text = `{"a":[${beyond},-${largest},1.5,9007199254740993.0,1e30],"b":"${beyond}","c\\"${beyond}":{"d":${beyond}}}`;
  const value = parseWithWideIntegers(text);
  expect(value).toEqual({
    a: [beyond, -largest, 1.5, 9007199254740992, 1e30],
    b: String(beyond),
    [`c"${beyond}`]: { d: beyond },
  });
  const written = { a: [beyond, -largest, 1.5], b: String(beyond), c: undefined };
  expect(stringifyWithWideIntegers(written)).toBe(`{"a":[${beyond},-${largest},1.5],"b":"${beyond}"}`);
  expect(parseWithWideIntegers('[1,"x"]')).toEqual([1, 'x']);
  expect(() => parseWithWideIntegers(`[${beyond}`)).toThrow(SyntaxError);
});

it('strings of any length stand beside wide integers', () => {
  const long = 'x\\"'.repeat(4_000_000);
  const text = `{"long":"${long}1234567890123456789","n":${beyond}}`;
  expect((parseWithWideIntegers(text) as { n: bigint }).n).toBe(beyond);
});

it('the metadata of records has wide integers, in batches, in inline storages and over HTTP and MCP', () => {
  const record = `{"id":"a","text":"${beyond}","metadata":{"n":${beyond}}}`;
  const metadata = { n: beyond };
  expect(parsed(`{"add":[${record}],"replace":[${record}],"records":[{},${record}]}`)).toMatchObject({
    ...{ add: [{ metadata }], replace: [{ metadata }], records: [{}, { metadata }] },
  });
  expect(parsed(`{"metadata":{"n":${beyond}},"text":"t"}`)).toMatchObject({ metadata });
  const called = parsed(
    `{"id":${beyond},"params":{"arguments":{"filter":{"==":[1,${beyond}]},"metadata":{"n":${beyond}},"top_k":${beyond}}}}`,
  );
  expect(called).toEqual({
    id: Number(beyond),
    params: { arguments: { filter: { '==': [1, beyond] }, metadata, top_k: Number(beyond) } },
  });
});

const parsed = (text: string) => {
  const parser = payloadParser(Buffer.from(text));
  parser.parse();
  return parser.value as Record<string, never>;
};

it('a request has wide integers in its filters, variables and results of actions only', () => {
  const search = parsed(
    `{"top_k":${beyond},"filter":{"in":[{"knowledge":"n"},[${beyond},1]]},"variables":{"a":{"filter":[${largest}]}}}`,
  );
  expect(search).toEqual({
    top_k: Number(beyond),
    filter: { in: [{ knowledge: 'n' }, [beyond, 1]] },
    variables: { a: { filter: [largest] } },
  });
  const node = `{"params":{"filter":{"==":[{"knowledge":"n"},${beyond}]},"seed":${beyond}},"filter":${beyond}}`;
  expect(parsed(`{"graph":{"nodes":[{},${node}]},"action_result":{"filter":${beyond}}}`)).toEqual({
    graph: {
      nodes: [
        {},
        {
          params: { filter: { '==': [{ knowledge: 'n' }, beyond] }, seed: Number(beyond) },
          filter: Number(beyond),
        },
      ],
    },
    action_result: { filter: beyond },
  });
});

it('a wide integer in the place of variables is refused as such', () => {
  const request = parsed(
    `{"type":"TurnRequest","id":1,"session_id":"s","agent_id":"a","text":"t","variables":${beyond}}`,
  );
  expect(refused(() => parseRequest(request))).toMatchObject({
    code: 1004,
    message: `variables: an object is expected, not ${beyond}`,
  });
});

it('a filter on the command line has wide integers', async () => {
  const filter = await jsonArgument('--filter', `{"n":{">=":${beyond}}}`);
  expect(filter).toEqual({ n: { '>=': beyond } });
});
