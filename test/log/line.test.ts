import { describe, expect, it } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { withLogContext } from '../../src/log/context.js';
import { createLog, type LogLevel } from '../../src/log/log.js';
import { prettyLine } from '../../src/log/pretty.js';
import { serverError } from '../../src/protocol/errors.js';

function open(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const log = createLog(level, { write: (line) => void lines.push(line) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') };
}

describe('a log line', () => {
  it('says whose work it is about, across everything that is awaited, and says it once', async () => {
    const { log, lines, last } = open();
    await withLogContext({ session: 's1', agent: undefined }, async () => {
      await withLogContext({ agent: 'a1', turn: 't1' }, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        log.info('inside');
      });
      expect(last()).toMatchObject({ session: 's1', agent: 'a1', turn: 't1' });
      log.child({ session: 's2' }).info('told');
      expect(lines.at(-1)?.match(/"session"/g)).toHaveLength(1);
      expect(last()).toMatchObject({ session: 's2' });
      expect(last()).not.toHaveProperty('turn');
    });
    log.info('outside');
    expect(last()).not.toHaveProperty('session');
  });

  it('shows an error with its stack, if it has one, without the texts of clients below trace', () => {
    const errors: [Error, boolean][] = [
      [new TypeError("Cannot read properties of undefined (reading 'x')"), true],
      [new LorekeepError('IO', 'marker', {}), true],
      [new LorekeepError('INVALID_ARGUMENT', 'marker', {}), false],
      [serverError(1004, 'marker', { path: 'marker' }), false],
      [new SyntaxError('marker'), false],
      [Object.assign(new TypeError('marker'), { code: 'ERR_INVALID_ARG_TYPE' }), false],
      [new Error('outer', { cause: new SyntaxError('marker') }), true],
    ];
    for (const [err, shown] of errors) {
      const { log, last } = open('debug');
      log.error({ err }, 'failed');
      // The mistakes of clients have none.
      const { stack } = last().err;
      expect(stack.includes('line.test.ts') || stack === 'InvalidField', err.message).toBe(true);
      expect('message' in last().err, err.message).toBe(shown);
      if (!shown || err.cause) expect(JSON.stringify(last()).replace(/at .*/g, '')).not.toContain('marker');
    }
    const { log, last } = open('trace');
    log.error({ err: new SyntaxError('marker') }, 'failed');
    expect(last().err.message).toBe('marker');
  });

  it('is readable on a terminal, and cannot control it', () => {
    const line = JSON.stringify({
      level: 'warn',
      time: '2026-01-02T03:04:05.678Z',
      msg: 'a \u001b[2Jb\u009b3Jc',
      session: 's1',
      text: 'two words\u009b\u202e',
      err: { stack: 'Error: x\n    at y' },
    });
    const [head, ...stack] = prettyLine(`${line}\n`, false).split('\n');
    expect(head).toMatch(
      /^\d\d:\d\d:05\.678 WARN {2}a \\u001b\[2Jb\\u009b3Jc session=s1 text="two words\\u009b\\u202e"$/,
    );
    expect(stack).toEqual(['    Error: x', '        at y', '']);
    expect(prettyLine('not JSON', true)).toBe('not JSON');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors are control characters
    expect(prettyLine(line, true)).toMatch(/\u001b\[33mWARN/);
  });
});
