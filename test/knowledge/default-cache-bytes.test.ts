import { afterEach, describe, expect, it, vi } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { defaultCacheBytes } from '../../src/knowledge/default-cache-bytes.js';

const gibibyte = 2 ** 30;
const machine = 64 * gibibyte;

afterEach(() => void vi.restoreAllMocks());

describe('what a cache of knowledge bases holds by default', () => {
  it('is a quarter of a limit that is less than the memory of the machine', () => {
    expect(defaultCacheBytes(2 * gibibyte, machine)).toBe(gibibyte / 2);
    expect(defaultCacheBytes(1001, machine)).toBe(250);
  });

  it.each([
    ['0: none', 0],
    ['the most of version 2', 2 ** 64],
    ['the most of version 1', 2 ** 63 - 4096],
    ['what this machine has not', machine + 1],
  ])('is a quarter of the machine where the limit is %s', (_, limit) => {
    expect(defaultCacheBytes(limit, machine)).toBe(16 * gibibyte);
  });

  it("is the server's default, too, in whole MiB and at least one", () => {
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(2 ** 20 * 403);
    expect(configSchema.parse({}).storage_cache_max_mb).toBe(100);
    limit.mockReturnValue(1);
    expect(configSchema.parse({}).storage_cache_max_mb).toBe(1);
  });
});
