// argv: an embedding model that may be renamed, a backend. Prints what happens when the model leaves the GPU while its file
// is away, as one line of JSON.
import { readFileSync, renameSync } from 'node:fs';
import { EmbeddingModel, useBackend } from 'lorekeep';

const [path, backend] = process.argv.slice(2);
await useBackend(backend);
const taken = () => Number(readFileSync(process.env.STAND_IN_TELLS, 'utf8')) > 0;
const model = await EmbeddingModel.load(path, { placement: 'vram' });
await model.embed('bees');
const before = taken();
renameSync(path, `${path}.away`);
await model.leaveGpu();
const after = taken();
const place = model.facts.device;
const away = await model.embed('bees').catch(({ code }) => code);
renameSync(`${path}.away`, path);
const back = (await model.embed('bees')).length === model.dimension;
await model.leaveGpu();
await model.close();
console.log(JSON.stringify({ before, after, place, away, back }));
