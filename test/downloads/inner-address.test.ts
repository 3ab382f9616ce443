import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import {
  isInnerAddress,
  isInside,
  lookupOf,
  otherSide,
  type Resolve,
} from '../../src/models/downloads/inner-address.js';

const names: Record<string, string[]> = {
  'models.example': ['93.184.216.14', '2606:2800:21f:cb07::1'],
  'nas.example': ['151.101.1.1', '10.1.2.3'],
  'intranet.example': ['192.168.1.9'],
};
const resolve: Resolve = async (host) => {
  const found = names[host];
  if (found === undefined) throw new Error('ENOTFOUND');
  return found.map((address) => ({ address }));
};

test.each([
  ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.0.1'],
  ...['169.254.169.254', '100.64.0.1', '[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[::ffff:127.0.0.1]'],
  ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', 'localhost', 'LOCALHOST.', 'a.localhost', 'intranet.example'],
])('%s is inside', async (host) => {
  expect(await isInside(new URL(`http://${host}/x`), resolve)).toBe(true);
});

test.each(['models.example', '151.101.1.1', '[2606:2800:21f:cb07::1]', 'unknown.example', 'nas.example'])(
  '%s is not only inside',
  async (host) => {
    expect(await isInside(new URL(`http://${host}/x`), resolve)).toBe(false);
  },
);

test('a connection to a name that has moved to the other side fails, unless it is a proxy', async () => {
  const found = (side: 'inside' | 'outside', proxies: string[], all: boolean) =>
    new Promise<{ code: string | undefined; address: string | LookupAddress[] }>((settle) => {
      lookupOf(side, new Set(proxies))('localhost', { all }, (error, address) =>
        settle({ code: error?.code, address }),
      );
    });
  expect(await found('outside', [], true)).toMatchObject({ code: otherSide });
  expect(await found('outside', [], false)).toMatchObject({ code: otherSide });
  for (const { address, code } of [
    await found('outside', ['localhost'], false),
    await found('inside', [], false),
  ]) {
    expect(code).toBeUndefined();
    expect(isInnerAddress(address as string)).toBe(true);
  }
});
