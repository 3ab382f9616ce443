import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createLog } from '../../log/log.js';
import { LorekeepServer } from '../../server/server.js';
import { quietConfig, stderrSink } from '../ask/here.js';
import { modelOfFlag } from '../ask/model-file.js';
import type { OpenFlags } from '../ask/opened.js';
import { placesHere } from '../ask/places.js';
import { openCatalogAndConfig } from '../catalog/open-catalog.js';
import { UsageError } from '../failure.js';
import { note, print } from '../output.js';
import { npxPid, watchParent } from '../parent-process.js';
import { onStopSignal } from '../stop-signal.js';
import { PageOpener } from './page-opener.js';
import { PagePlaces } from './page-places.js';

export interface PageFlags extends OpenFlags {
  /** false: the browser is not opened. */
  open?: boolean;
  httpPort?: number;
}

/** `lorekeep open`: serves the page for people until a signal ends it. @throws CommandError, StartupError, UsageError */
export async function openPage(words: readonly string[], flags: PageFlags): Promise<void> {
  const given = await placesHere(words);
  if (flags.embeddingModel !== undefined && given.every(({ kind }) => kind === 'config'))
    throw new UsageError('--embedding-model: it has no effect: the knowledge base names its own');
  const { catalog, config, connections } = await openCatalogAndConfig(flags);
  const { name: model, entry } = await modelOfFlag(flags.model, catalog, 'llm');
  if (entry !== undefined) catalog.add(entry);
  const places = await PagePlaces.find(given, model);
  const quiet = quietConfig(config, 'none');
  const server = await LorekeepServer.start({
    config: {
      ...quiet,
      http: {
        ...quiet.http,
        ...{ page: true, bind: '127.0.0.1', port: flags.httpPort ?? 0, allow_remote: false },
        ...{
          tls_cert: '',
          tls_key: '',
          keys_file: '',
          agents: {},
          cors_origins: [],
          storages: places.configs,
        },
      },
    },
    catalog,
    connections,
    log: createLog('warn', stderrSink),
    listen: false,
    doors: true,
    page: places,
    // Other users of this machine have no secret.
    accessToken: randomBytes(32).toString('base64url'),
  });
  const ending = new AbortController();
  const end = async () => {
    ending.abort(new Error('the page is closed'));
    await server.close();
  };
  const parent = npxPid();
  if (parent !== undefined) watchParent(parent, () => void end().then(() => process.exit(0)));
  onStopSignal(end);
  // The config has a page.
  const page = server.page as NonNullable<typeof server.page>;
  const opener = new PageOpener(page, { opens: flags.open !== false, tell: print });
  print(`lorekeep: ${page.url}`);
  await opener.open();
  reopenOnEnter(opener);
  await places.index(server, flags, ending.signal);
}

/** A code works once: each Enter on the terminal makes another one. */
function reopenOnEnter(opener: PageOpener): void {
  if (!process.stdin.isTTY) return;
  note('Enter opens the page again, Ctrl-C ends');
  const lines = createInterface({ input: process.stdin });
  lines.on('line', () => void opener.open());
}
