/** vi.waitFor() gives up after a second by default, which a busy machine takes for anything. */
import { vi } from 'vitest';

const { waitFor } = vi;
vi.waitFor = (callback, options = 60_000) => waitFor(callback, options);
