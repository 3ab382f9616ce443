/** Ways to crash, for tests of crash dumps. */
export type CrashKind = 'segmentation-fault' | 'stack-overflow' | 'abort' | 'exception';
export type CrashThread = 'calling' | 'pool' | 'inference';
