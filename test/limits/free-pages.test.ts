import { expect, it } from 'vitest';
import { runChild } from '../helpers/children.js';

const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };

it.skipIf(header.glibcVersionRuntime === undefined)(
  'free memory between pieces in use goes back to the system in steps',
  async () => {
    const { code, output, messages } = await runChild('../../limits/children/free-pages.mjs', [], {
      execArgv: ['--expose-gc'],
    });
    expect(code, output).toBe(0);
    const [{ before, full, after, steps, kept }] = messages as [
      Record<'before' | 'full' | 'after' | 'steps' | 'kept', number>,
    ];
    expect(kept).toBe(4000);
    expect(full - before).toBeGreaterThan(200);
    expect(steps).toBeGreaterThan(10);
    expect(after - before).toBeLessThan((full - before) / 4);
  },
);
