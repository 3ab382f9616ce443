import { expect, it, onTestFinished, vi } from 'vitest';
import { progressView } from '../../src/cli/terminal/progress.js';

/** What a view of a phase of 10 records prints where there is no terminal. */
function printed(quietMs: number): string {
  let text = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  onTestFinished(() => write.mockRestore());
  const view = progressView({ isTTY: false } as NodeJS.WriteStream, { quietMs });
  for (const done of [0, 5, 10]) view.update({ phase: 'embed', done, total: 10 });
  for (const done of [0, 2048]) view.update({ file: 'a\u001b.gguf', done, total: 2048 });
  view.stop();
  return text;
}

it('progress is told from the beginning, or only of what takes long', () => {
  expect(printed(0)).toMatch(/^embedding: 10 records in .*\na␛\.gguf: 2\.00 KiB in /);
  expect(printed(3_600_000)).toBe('');
});
