import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import {
  innerHost,
  isInnerAddress,
  leadsInside,
  outsideOnly,
  type Resolve,
} from '../../src/models/downloads/inner-address.js';

const names: Record<string, string[]> = {
  'models.example': ['93.184.215.14', '2606:2800:21f:cb07::1'],
  'cdn.example': ['151.101.1.1'],
  'trap.example': ['151.101.1.1', '10.1.2.3'],
  'intranet.example': ['192.168.1.9'],
};
const resolve: Resolve = async (host) => {
  const found = names[host];
  if (found === undefined) throw new Error('ENOTFOUND');
  return found.map((address) => ({ address }));
};
const leads = (first: string, next: string) =>
  leadsInside(new URL(`https://${first}/m.gguf`), new URL(`https://${next}/x`), resolve);

describe('a redirect', () => {
  test.each([
    ...['127.0.0.1', '127.1', '2130706433', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.0.1'],
    ...['169.254.169.254', '100.64.0.1', '[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[::ffff:127.0.0.1]'],
    ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', 'localhost', 'a.localhost', 'trap.example', 'intranet.example'],
  ])('of a server outside to %s is refused', async (host) => {
    expect(await leads('models.example', host)).toBe(true);
  });

  test('to a host outside, or of a server inside, is followed', async () => {
    expect(await leads('models.example', 'cdn.example')).toBe(false);
    expect(await leads('models.example', '151.101.1.1')).toBe(false);
    expect(await leads('models.example', 'unknown.example')).toBe(false);
    expect(await leads('intranet.example', '10.0.0.1')).toBe(false);
    expect(await leads('127.0.0.1', 'localhost')).toBe(false);
    expect(await leads('trap.example', 'trap.example')).toBe(false);
  });
});

test('a connection to a name that has become an inner one fails, unless it is a proxy', async () => {
  const found = (allowed: string[], all: boolean) =>
    new Promise<{ code: string | undefined; address: string | LookupAddress[] }>((settle) => {
      outsideOnly(new Set(allowed))('localhost', { all }, (error, address) =>
        settle({ code: error?.code, address }),
      );
    });
  expect(await found([], true)).toMatchObject({ code: innerHost });
  expect(await found([], false)).toMatchObject({ code: innerHost });
  const { address } = await found(['localhost'], false);
  expect(isInnerAddress(address as string)).toBe(true);
});
