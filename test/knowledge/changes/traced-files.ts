import type { LogFile, LogFiles } from '../../../src/knowledge/changes/log-file.js';

/** An effect on a log file, or a moment that a test marks. */
export type Step =
  | { kind: 'write'; at: number; bytes: Buffer }
  | { kind: 'truncate'; size: number }
  | { kind: 'sync' }
  /** Another file was put in place durably. */
  | { kind: 'replace'; content: Buffer }
  | { kind: 'acknowledged'; version: number };

/** A log file in memory. Records what happens to it, and fails on request. */
export class TracedFiles implements LogFiles {
  readonly trace: Step[] = [];
  content: Buffer = Buffer.alloc(0);
  /** Asked before each call; an error code lets the call fail. `partial`: bytes that a failing write leaves. */
  fault: (call: string) => { code: string; partial?: number } | undefined = () => undefined;

  async open(): Promise<LogFile> {
    return this.#file();
  }

  async replace(_path: string, content: readonly Uint8Array[]): Promise<LogFile> {
    this.#failing('replace');
    this.content = Buffer.concat(content);
    this.trace.push({ kind: 'replace', content: Buffer.from(this.content) });
    return this.#file();
  }

  #failing(call: string): number | undefined {
    const fault = this.fault(call);
    if (fault === undefined) return undefined;
    if (fault.partial !== undefined) return fault.partial;
    throw Object.assign(new Error(fault.code), { code: fault.code, syscall: call });
  }

  #file(): LogFile {
    return {
      write: async (bytes, at) => {
        const partial = this.#failing('write');
        const copy = Buffer.from(bytes.subarray(0, partial));
        this.trace.push({ kind: 'write', at, bytes: copy });
        this.content = applied(this.content, { kind: 'write', at, bytes: copy });
        if (partial !== undefined)
          throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
      },
      read: async (at, length) => Buffer.from(this.content.subarray(at, at + length)),
      sync: async () => {
        this.#failing('sync');
        this.trace.push({ kind: 'sync' });
      },
      truncate: async (size) => {
        this.#failing('truncate');
        this.trace.push({ kind: 'truncate', size });
        this.content = applied(this.content, { kind: 'truncate', size });
      },
      placeOf: async () => 'here',
      close: async () => {},
    };
  }
}

/** Returns the content of a file after a step. */
export function applied(content: Buffer, step: Step): Buffer {
  if (step.kind === 'replace') return Buffer.from(step.content);
  if (step.kind === 'truncate') return Buffer.from(content.subarray(0, step.size));
  if (step.kind !== 'write') return content;
  const longer = Buffer.alloc(Math.max(content.length, step.at + step.bytes.length));
  content.copy(longer);
  step.bytes.copy(longer, step.at);
  return longer;
}
