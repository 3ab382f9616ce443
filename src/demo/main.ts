import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { watchOutput } from '../cli/output.js';
import { onStopSignal } from '../cli/stop-signal.js';
import { configSchema } from '../config/schema.js';
import { StartupError } from '../config/startup-error.js';
import { homeFolder } from '../files/home.js';
import { CatalogModels, indexFolder } from '../knowledge/index.js';
import { createLog } from '../log/log.js';
import { LorekeepServer } from '../server/server.js';
import { writeCatalog } from './catalog.js';
import { demoFolder } from './folder.js';
import { findLanguageModel, modelsFolder } from './language-model.js';
import { printStep } from './report.js';
import { showSession } from './session.js';

/** Characters of a passage: short enough to read in a list of hits. */
const chunkSize = 300;

watchOutput();
try {
  await demonstrate();
} catch (error) {
  const message = error instanceof StartupError ? error.message : (error as Error).stack;
  process.stderr.write(`lorekeep: ${message}\n`);
  process.exit(1);
}

/** Indexes this project's documentation, serves it, and shows a client at work. */
async function demonstrate(): Promise<void> {
  const { port, once } = flags();
  const folder = await demoFolder(homeFolder);
  const model = { catalog: join(homeFolder, 'data', 'models.json'), name: 'lorekeep-mini' };
  printStep('model', `${model.name}, the faster one of the two in the package`);
  const models = modelsFolder(homeFolder);
  const talker = await findLanguageModel(models);
  if (talker === undefined) {
    printStep('', 'no language model: the answer at the end is quoted. To have it generated, put the');
    printStep('', 'GGUF file of a chat model into a folder, and name the folder in LOREKEEP_MODELS');
  } else printStep('', `${talker.name} of ${models}, a language model`);
  const catalog = await writeCatalog(folder, model.catalog, talker);
  const { files, records, read, milliseconds } = await indexDocumentation(folder, model);
  const indexed = read === 0 ? 'indexed before' : `indexed in ${Math.round(milliseconds)} ms`;
  printStep('knowledge', `${records} passages of ${files} pages of documentation, ${indexed}`);
  const config = configSchema.parse({
    port,
    models_catalog_path: catalog,
    storage_root: folder,
    include_interaction_in_diagnostics: true,
  });
  const server = await LorekeepServer.start({ config, log: createLog('warn') });
  printStep('server', `listening on 127.0.0.1:${server.port}`);
  onStopSignal(() => server.close());
  await showSession(server.port, model.name, talker?.name);
  if (once) return server.close();
  process.stdout.write(`\nserver stays up on 127.0.0.1:${server.port}; press Ctrl-C to stop\n`);
}

async function indexDocumentation(folder: string, { catalog, name }: { catalog: string; name: string }) {
  await using models = await CatalogModels.open(catalog);
  const started = performance.now();
  const options = { folder: join(homeFolder, 'docs'), output: join(folder, 'docs'), chunkSize };
  const index = await indexFolder({ ...options, models, model: name });
  return { ...index, milliseconds: performance.now() - started };
}

function flags(): { port: number; once: boolean } {
  const options = {
    port: { type: 'string', default: '9100' },
    once: { type: 'boolean', default: false },
  } as const;
  let values: { port: string; once: boolean };
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new StartupError((error as Error).message);
  }
  const port = configSchema.shape.port.safeParse(Number(values.port));
  if (!port.success)
    throw new StartupError(`--port: an integer from 0 to 65535 is expected, not ${values.port}`);
  return { port: port.data, once: values.once };
}
