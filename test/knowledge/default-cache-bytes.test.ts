import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultCacheBytes } from '../../src/base/machine/default-cache-bytes.js';
import { configSchema } from '../../src/config/schema.js';

afterEach(() => void vi.restoreAllMocks());

describe('what a cache of knowledge bases holds by default', () => {
  it('is a quarter of the memory that the process may use', () => {
    expect(defaultCacheBytes(2 * 2 ** 30)).toBe(2 ** 29);
    expect(defaultCacheBytes(1001)).toBe(250);
  });

  it("is the server's default, too, in whole MiB and at least one", () => {
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(2 ** 20 * 403);
    expect(configSchema.parse({}).storage_cache_max_mb).toBe(100);
    limit.mockReturnValue(1);
    expect(configSchema.parse({}).storage_cache_max_mb).toBe(1);
  });
});
