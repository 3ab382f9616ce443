// Writes what the teacher says of texts, as 384 little-endian floats a text.
//
//   node tools/train-mini/teach.mjs MODEL.gguf TEXTS OUT       TEXTS: one text a line
//   node tools/train-mini/teach.mjs MODEL.gguf --pieces OUT    the teacher's vocabulary, one piece a line
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { readGguf } from '../../bench/harness/gguf.mjs';
import { EmbeddingModel } from '../../dist/lib/index.js';

const textsOfABatch = 4096;

const [path, input, output] = process.argv.slice(2);
if (input === '--pieces') {
  writeFileSync(output, `${strings(readGguf(path).metadata.get('tokenizer.ggml.tokens')).join('\n')}\n`);
} else {
  const texts = readFileSync(input, 'utf8').split('\n').slice(0, -1);
  const model = await EmbeddingModel.load(path);
  const file = openSync(output, 'w');
  for (let at = 0; at < texts.length; at += textsOfABatch) {
    const rows = await model.embed(texts.slice(at, at + textsOfABatch));
    writeSync(file, Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength));
  }
  closeSync(file);
  await model.close();
}

/** The strings of a GGUF array, from the bytes of its type and value. */
function strings(bytes) {
  const found = [];
  for (let left = bytes.readBigUInt64LE(8), at = 16; left > 0n; left--) {
    const end = at + 8 + Number(bytes.readBigUInt64LE(at));
    found.push(bytes.toString('utf8', at + 8, end));
    at = end;
  }
  return found;
}
