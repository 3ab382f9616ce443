// Makes data/models/all-MiniLM-L6-v2.gguf from the F16 file. See README.md beside this file.
//
//   node tools/models/quantise.mjs [--from FILE] [--to FILE] [--table TYPE] [--layers TYPE]
import { parseArgs } from 'node:util';
import { metadataValue, readGguf, writeGguf } from '../../bench/harness/gguf.mjs';
import { fromHalf } from '../../bench/harness/half.mjs';
import { quantise } from './blocks.mjs';

const name = 'all-MiniLM-L6-v2';
const mostlyQ8 = 7; // llama.cpp's number of the file type

const { values: options } = parseArgs({
  options: {
    from: { type: 'string', default: `../shared/models/${name}-f16.gguf` },
    to: { type: 'string', default: `data/models/${name}.gguf` },
    table: { type: 'string', default: 'IQ4_NL' },
    layers: { type: 'string', default: 'Q8_0' },
  },
});

const model = readGguf(options.from);
for (const tensor of model.tensors) {
  const type = typeOf(tensor);
  if (type === tensor.type) continue;
  tensor.bytes = quantise(type, numbers(tensor));
  tensor.type = type;
}
model.metadata.set('general.name', metadataValue.string(name));
model.metadata.set('general.file_type', metadataValue.u32(mostlyQ8));
model.metadata.set('general.quantization_version', metadataValue.u32(2));
console.log(`${options.to}: ${writeGguf(options.to, model)} bytes`);

/** Norms and biases stay as they are, and so do the two rows of token types, which llama.cpp wants in F32. */
function typeOf({ name: tensor, shape, type }) {
  if (shape.length === 1 || tensor === 'token_types.weight') return type;
  if (tensor === 'token_embd.weight') return options.table;
  return tensor === 'position_embd.weight' ? 'Q8_0' : options.layers;
}

function numbers({ type, bytes }) {
  const copy = Uint8Array.from(bytes).buffer;
  return type === 'F16' ? Float32Array.from(new Uint16Array(copy), fromHalf) : new Float32Array(copy);
}
