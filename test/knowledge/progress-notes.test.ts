import { expect, test } from 'vitest';
import { ProgressNotes } from '../../src/knowledge/folder/progress-notes.js';

test('notes are not written at once, and none after the end', async () => {
  const written: number[] = [];
  const notes = new ProgressNotes(async ({ done }) => {
    written.push(done);
  });
  notes.take({ phase: 'embed', done: 1, total: 9 });
  await notes.end();
  notes.take({ phase: 'embed', done: 2, total: 9 });
  expect(written).toEqual([]);
});
