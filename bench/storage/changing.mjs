// A storage that changes: searches per second over the share of records changed since the last merge, beside a storage
// built from the same records; the time of batches; what merges cost in all; searches during merges.
//
//   node bench/storage/changing.mjs [--records 10000] [--million] [--dimension 384] [--batch 500] [--rounds 9]
//     [--queries 200] [--only curves,thousand,doubling,latency,peers] [--tiny N] [--large] [--markdown]
//
// Vectors and texts are made from a seed. Both storages are searched in turns in this process, query by query, and a
// number of the curve is the ratio of the sums of each query's median time. Merges that are due run before each row; the last row is the worst
// moment, one record before everything is merged. --million takes i8 vectors and a narrow graph, and compares with the
// storage as it was built, because a second one does not fit. Peers are compared with themselves before the changes.
// Embedding is not included.
import { parseArgs } from 'node:util';
import { load, machine } from '../harness/machine.mjs';
import { markdownTable, terminalTable } from '../harness/table.mjs';
import { doubling, duringMerges, largeBatch, thousand, tinyBatches } from './changing/costs.mjs';
import { curves } from './changing/curves.mjs';
import { MadeRecords } from './changing/data.mjs';
import { peers } from './changing/peers.mjs';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000' },
    million: { type: 'boolean', default: false },
    dimension: { type: 'string', default: '384' },
    batch: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '9' },
    queries: { type: 'string', default: '200' },
    only: { type: 'string', default: 'curves,thousand,latency,doubling,peers' },
    tiny: { type: 'string', default: '0' },
    large: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});
const count = values.million ? 1_000_000 : Number(values.records);
const only = new Set(values.only.split(','));
const sizes = {
  count,
  batch: values.million ? 10_000 : Number(values.batch),
  rounds: Number(values.rounds),
  queries: Number(values.queries),
  samePinned: values.million,
  build: values.million ? { vectorType: 'i8', efConstruction: 32 } : {},
};
const made = new MadeRecords(Number(values.dimension), count);

function print(table) {
  console.log(values.markdown ? `\n${table.title}:\n\n${markdownTable(table)}` : `\n${terminalTable(table)}`);
}

if (Number(values.tiny) > 0) {
  print(await tinyBatches(Number(values.tiny)));
} else if (values.large) {
  print(await largeBatch(made));
} else {
  console.log(JSON.stringify({ ...machine(), load: load() }));
  if (only.has('curves') || only.has('thousand') || only.has('latency')) {
    const { live, built, table } = await curves(made, {
      ...sizes,
      ...(!only.has('curves') && { rounds: 1 }),
    });
    console.log(`built in ${(built.elapsed / 1000).toFixed(1)} s`);
    if (only.has('curves')) print(table);
    if (only.has('thousand')) print(await thousand(live, made));
    if (only.has('latency'))
      print(
        await duringMerges(live, made, {
          queries: 200,
          ...(values.million
            ? { rounds: 1, turns: 10, searches: 700 }
            : { rounds: 5, turns: 3, searches: 300 }),
        }),
      );
    await live.close();
  }
  if (only.has('doubling')) print(await doubling(made, sizes));
  if (only.has('peers')) print(await peers(made, sizes));
}
