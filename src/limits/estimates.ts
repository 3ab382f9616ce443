/**
 * Bytes of heap that things take: measured (test/limits/estimates.test.ts) and rounded up. Strings count apart.
 */

/** One value of parsed JSON: an object or array of few members, with its place in what holds it. */
export const valueHeap = 64;

/** A request under way: promises, closures, the parsed frame. */
export const requestBase = 4096;

/** A connection without sessions: socket, decoder, loggers. */
export const connectionHeap = 24 * 1024;

/** A session without storages and agents. */
export const sessionHeap = 12 * 1024;
