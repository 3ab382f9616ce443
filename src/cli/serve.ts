import { randomBytes } from 'node:crypto';
import { distanceKernels } from '../../lib/internal.js';
import { dataFolder } from '../base/files/data-folder.js';
import { homeFolder, isProduction, packageVersion } from '../base/files/home.js';
import { switchOffAbsent } from '../config/edition.js';
import { configPath, type FlagValues } from '../config/flags.js';
import { loadConfig } from '../config/load.js';
import type { ServerConfig } from '../config/schema.js';
import { unknownKernels, unknownVariables } from '../config/variables.js';
import type { OpenPage } from '../doors/page/entry.js';
import { ConsoleSink } from '../log/console-sink.js';
import type { Log } from '../log/log.js';
import { openLog } from '../log/open.js';
import { QuietStart } from '../log/quiet-start.js';
import { StartWarnings } from '../log/start-warnings.js';
import { startCrashDumps } from '../operations/crash/crash-dumps.js';
import { dumpFolder } from '../operations/crash/dump-folder.js';
import type { LogTail } from '../operations/monitor/log-tail.js';
import { protocolVersion } from '../protocol/frames.js';
import { LorekeepServer } from '../server/server.js';
import { absentConfigNote } from './absent-config.js';
import { exitStatus } from './exit-status.js';
import { boundYoungSpace, collectWithoutHelpers } from './garbage-collection.js';
import { logOtherSignals } from './other-signals.js';
import { print, printJsonLine, warn } from './output.js';
import { npxPid, watchParent } from './parent-process.js';
import { onReloadSignal } from './reload-signal.js';
import { configHere } from './server-config.js';
import { exitAfter, onStopSignal } from './stop-signal.js';
import { printable } from './terminal/printable.js';

/** Longest wait for work under way after the parent's end, in ms. */
const orphanDrainMs = 1000;

/** The process ends this long after it has seen the parent's end, in ms, even if the server does not stop. */
const orphanEndMs = 1500;

/**
 * Starts the server and resolves. A signal or the idle timeout stops it later, and so does the end of the process
 * `parentPid`, else of the npx that started it. @throws StartupError, or UsageError if there is no such process
 */
export async function serve(
  flags: FlagValues,
  parentPid?: number,
  tell: (line: object) => void = printJsonLine,
): Promise<void> {
  let stopOrphan = (): void => process.exit(exitStatus.done);
  const parent = parentPid ?? npxPid();
  if (parent !== undefined) watchParent(parent, () => stopOrphan());
  const useLog = logOtherSignals();
  const useServer = onReloadSignal();
  const loaded = await loadServerConfig(flags);
  const { config, file } = loaded;
  const logTail = config.monitor.enabled ? await openLogTail(config) : undefined;
  const output = new ConsoleSink(parentPid === undefined ? 'stdout' : 'stderr');
  const isForPeople = parentPid === undefined && process.stdout.isTTY && config.log_level === 'info';
  const terminal = isForPeople ? new QuietStart(output) : output;
  const startWarnings = new StartWarnings();
  const sinks = logTail === undefined ? [startWarnings] : [startWarnings, logTail];
  const { log, fileLog, file: logFile } = openLog(config, sinks, terminal);
  useLog(log);
  logDefects(log);
  startCrashDumps(config, log);
  const kernels = unknownKernels(process.env, distanceKernels());
  for (const warning of [...loaded.warnings, ...(kernels === undefined ? [] : [kernels])]) log.warn(warning);
  log.info({ pid: process.pid, config: file ?? 'built-in defaults', logFile }, 'starting');
  log.info(writtenFolders(config), 'folders that the server writes to');
  const accessToken = parentPid === undefined || config.access_token_file ? undefined : randomToken();
  const starting = startServer();
  // Before it listens: a program that sees the server start may stop it immediately.
  onStopSignal(async (signal) => {
    log.info({ signal }, 'stopping');
    await (await starting).stop();
  });
  stopOrphan = () => {
    log.info({ parentPid: parent }, 'stopping: the parent process has ended');
    setTimeout(() => process.exit(exitStatus.done), orphanEndMs);
    exitAfter(starting.then((server) => server.stop(orphanDrainMs)));
  };
  const server = await starting;
  const warnings = startWarnings.end();
  if (parentPid !== undefined) tell(readyLine(server, config, warnings, accessToken));
  else if (server.page !== undefined) await showPage(server.page, log);
  if (terminal instanceof QuietStart) {
    print(startLine(server, config, logFile));
    terminal.started();
  }
  useServer({ server, flags, file, log });
  await watchSteps(log);

  async function startServer(): Promise<LorekeepServer> {
    try {
      collectWithoutHelpers();
      boundYoungSpace();
      return await LorekeepServer.start({
        config,
        configFile: loaded.place,
        configSources: loaded.sources,
        catalogIsFound: loaded.catalogIsFound,
        configIsFound: loaded.configIsFound,
        log,
        logTail,
        accessToken,
        onIdle,
      });
    } catch (error) {
      fileLog.error({ err: error }, 'not started');
      throw error;
    }
  }

  function onIdle(): void {
    log.info({ seconds: config.idle_shutdown_timeout }, 'stopping: no session for this long');
    // A slow start may still be under way.
    exitAfter(starting.then((server) => server.stop()));
  }
}

/** What people need of a start: the addresses, and the folders of the knowledge and of the log. */
function startLine(server: LorekeepServer, config: ServerConfig, logFile: string | undefined): string {
  const { bind } = config.http;
  const addresses = [
    ...(server.httpPort === undefined
      ? []
      : [`${server.page ? 'page' : 'HTTP'} http://${bind}:${server.httpPort}/`]),
    ...(server.monitorPort === undefined
      ? []
      : [`monitor http://${config.monitor.bind}:${server.monitorPort}/`]),
    ...(server.metricsPort === undefined
      ? []
      : [`metrics http://${config.metrics.bind}:${server.metricsPort}/`]),
    `knowledge in ${config.storage_root || homeFolder}`,
    ...(logFile === undefined ? [] : [`log ${logFile}`]),
  ];
  return printable(
    `lorekeep ${packageVersion} listens on port ${server.port}; ${addresses.join('; ')}; Ctrl-C ends it`,
  );
}

/** Opens the page in the browser if people start the server, and logs how to open it. */
async function showPage(page: OpenPage, log: Log): Promise<void> {
  const { PageOpener } = await import('./open/page-opener.js');
  const opener = new PageOpener(page, {
    opens: process.stdout.isTTY === true,
    tell: (text) => log.info(`page: ${text}`),
  });
  await opener.open();
}

/** Begins the watch for work that takes too long, if the environment asks for it. */
async function watchSteps(log: Log): Promise<void> {
  const wanted = process.env.LOREKEEP_WATCHDOG;
  if (!wanted) return;
  if (isProduction) {
    log.warn('LOREKEEP_WATCHDOG: is not part of the production edition and has no effect');
    return;
  }
  const { openWatchdog } = await import('../server/development/watchdog.js');
  await openWatchdog(log, wanted === '1' ? undefined : wanted);
}

/** Loads the config, with the warnings about it and about variables. @throws StartupError */
async function loadServerConfig(flags: FlagValues) {
  const loaded = await loadConfig(flags, process.env, configHere(flags, process.env));
  const { config, file, place } = loaded;
  const absent = switchOffAbsent(config);
  if (configPath(flags, process.env) !== undefined && file === undefined)
    warn(await absentConfigNote(place, config));
  const warnings = [...loaded.warnings, ...absent, ...unknownVariables(process.env)];
  return { ...loaded, warnings };
}

/** One JSON line for the program that started the server. `token` is absent if the config names a file with one. */
function readyLine(
  { port }: LorekeepServer,
  { access_token_file }: ServerConfig,
  warnings: readonly string[],
  token?: string,
): object {
  return {
    port,
    ...(token === undefined ? { access_token_file } : { token }),
    pid: process.pid,
    version: packageVersion,
    protocol: protocolVersion,
    ...(warnings.length > 0 && { warnings }),
  };
}

const randomToken = () => randomBytes(32).toString('base64url');

async function openLogTail({ include_interaction_in_diagnostics }: ServerConfig): Promise<LogTail> {
  const { LogTail } = await import('../operations/monitor/log-tail.js');
  return new LogTail(include_interaction_in_diagnostics);
}

/**
 * An unhandled rejection is a defect of one request, so the server continues. After an uncaught exception the state is
 * unknown: the process ends with 1, and the log has the stack.
 */
function logDefects(log: Log): void {
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    process.exit(1);
  });
}

/** Where a server with this config writes, as absolute paths. */
function writtenFolders(config: ServerConfig): object {
  const { logs_dir, models_download_dir, storage_root, crash_dump } = config;
  return {
    logs: logs_dir || 'none',
    models: models_download_dir,
    storages: storage_root || homeFolder,
    dumps: crash_dump.enabled ? dumpFolder(config) : 'none',
    indexes: dataFolder(),
  };
}
