import { expect, it } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const path = temporaryFolder()('tiny.gguf');

it('takes texts of characters beyond the 16 bits of a code unit, and halves of such', async () => {
  const faces = '😀😁😂🤣😃😄😅';
  await createTinyModel({ texts: [faces, faces, '𐐀𐐁𐐂𐐃 𐐀𐐁𐐂𐐃', 'a\ud801b a\ud802b'], path });
  await using model = await EmbeddingModel.load(path);
  expect(await model.countTokens(faces)).toBe(3); // the word between the two marks of a text
  expect(await model.countTokens('😁😂')).toBeGreaterThan(3);
});
