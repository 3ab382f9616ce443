import type { ServerConfig } from '../../config/schema.js';
import type { Catalog } from '../../models/catalog.js';
import { withoutSecrets } from '../../models/downloads/address.js';
import { nothingToPull } from '../../models/model-pulls.js';
import { hostOf } from '../../models/remote/settings.js';
import { type CatalogEntry, isDownload, type ModelVariant } from '../../models/schema.js';
import { exitStatus } from '../exit-status.js';
import { CommandError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { differences, type ModelFile, modelFiles, refusalOf } from '../model-files.js';
import { note, print, printJson } from '../output.js';
import { size } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';
import { Screen } from '../terminal/screen.js';
import { fittedTable } from '../terminal/table.js';
import { findEntry, knownElsewhere, openCatalog, openCatalogAndConfig } from './open-catalog.js';

export interface ModelsFlags extends ModelFlags {
  json?: boolean;
}

/** A variant as `lorekeep models` shows it. */
export interface ListedModel {
  name: string;
  type: string;
  variant: string | null;
  state: 'present' | 'absent' | 'not downloaded' | 'damaged' | 'remote' | 'refused';
  /** Whether the server would use this variant. */
  used: boolean;
  bytes: number | null;
  /** Where the server would put it if there is room: `CPU`, or the name of a GPU; null: it needs a GPU, or is not used. */
  device: string | null;
  license: string | null;
  path: string | null;
  source: string | null;
  reason: string | null;
  note: string | null;
  /** One sentence per fact that the catalog and the file state differently. */
  contradictions: string[];
  /** Why the file cannot be used: a wrong size, or why a load refuses it. Checksums are compared by `lorekeep check`. */
  unusable: string | null;
}

/** `lorekeep models list`: every variant and the state of its file, without comparing checksums. */
export async function listModels(flags: ModelsFlags): Promise<void> {
  await interruptible(async (signal) => {
    const { catalog, config } = await openCatalogAndConfig(flags);
    const listed = await inspected(catalog, catalog.entries, { signal, gpu: await usableGpu(config) });
    if (flags.json) return printJson({ catalog: catalog.file, models: listed });
    printTable(listed);
    printRemarks(listed);
  });
}

/** `lorekeep models show NAME`. */
export async function showModel(name: string, flags: ModelsFlags): Promise<void> {
  await interruptible(async (signal) => {
    const { catalog, config } = await openCatalogAndConfig(flags);
    const entry = findEntry(catalog, name);
    const variants = await inspected(catalog, [entry], { signal, gpu: await usableGpu(config) });
    const { reason: chosenBecause } = catalog.locate(entry);
    const differing = variants.flatMap(({ contradictions }) => contradictions);
    if (flags.json)
      return printJson({
        ...entry,
        variants: entry.variants.map(({ url, ...more }) => ({
          ...more,
          ...(url && { url: withoutSecrets(url) }),
        })),
        files: variants,
        chosen_because: chosenBecause,
        contradictions: differing,
      });
    const { variants: _, ...stated } = entry;
    for (const [key, value] of Object.entries(stated).filter(([, fact]) => fact !== ''))
      print(`${key}: ${printable(typeof value === 'string' ? value : JSON.stringify(value))}`);
    for (const [index, facts] of variants.entries()) {
      const { variant, used, bytes, device, path, source, reason, note } = facts;
      const { sha256, parts_sha256: parts = [] } = entry.variants[index] as ModelVariant;
      print('');
      print(printable(`variant ${variant ?? '-'}: ${stateText(facts)}`));
      if (bytes !== null) print(`  ${size(bytes)}`);
      if (sha256 !== undefined) print(`  SHA-256 ${sha256}`);
      for (const [part, sum] of parts.entries()) print(`  SHA-256 of part ${part + 1}: ${sum}`);
      if (device !== null) print(`  device ${device}`);
      if (path !== null) print(printable(`  file ${path}`));
      if (source !== null) print(printable(`  from ${source}`));
      if (reason !== null) print(printable(`  ${reason}`));
      if (note !== null) print(printable(`  ${note}`));
      if (used) print(`  chosen: ${chosenBecause}`);
      for (const text of facts.contradictions) print(printable(`  contradiction: ${text}`));
    }
  });
}

/**
 * `lorekeep models pull NAME`: downloads the first variant that can be downloaded, or the named one. Fails if a load would
 * refuse the file.
 */
export async function pullModel(name: string, flags: ModelsFlags & { variant?: string }): Promise<void> {
  await interruptible(async (signal) => {
    const catalog = await openCatalog(flags);
    const entry = findEntry(catalog, name);
    const variant = downloadable(entry, flags.variant, catalog);
    const view = progressView(process.stderr, { json: flags.json });
    try {
      const path = await catalog.downloads.pull(variant, {
        signal,
        onProgress: (progress) => view.update(progress),
        onNote: (text) => {
          view.stop();
          if (!flags.json || process.stderr.isTTY) note(printable(text));
        },
      });
      view.stop();
      const differing = await differences(path, entry, variant);
      const unusable = refusalOf(differing) ?? null;
      if (unusable !== null) process.exitCode = exitStatus.failed;
      const contradictions = differing.map(({ text }) => text);
      if (flags.json) return printJson({ model: name, path, contradictions, unusable });
      print(printable(path));
      for (const text of contradictions) note(printable(`contradiction: ${text}`));
    } finally {
      view.stop();
    }
  });
}

/** `lorekeep models remove NAME`: removes the downloads of a model. Files that people added stay. */
export async function removeModel(name: string, flags: ModelsFlags): Promise<void> {
  await interruptible(async (signal) => {
    const catalog = await openCatalog(flags);
    const { variants } = findEntry(catalog, name);
    let bytes = 0;
    for (const variant of variants.filter(isDownload))
      bytes += await catalog.downloads.remove(variant, signal);
    const local = variants.filter(({ file }) => file !== undefined).map((variant) => catalog.pathOf(variant));
    const kept = [...new Set(local.filter(({ present }) => present).map(({ path }) => path))];
    if (flags.json) return printJson({ model: name, bytes, kept });
    if (bytes > 0) print(`${size(bytes)} freed`);
    for (const path of kept) print(printable(`not removed, because lorekeep did not download it: ${path}`));
    if (bytes === 0 && kept.length === 0) print('nothing was downloaded');
  });
}

/** `lorekeep models prune`: removes downloads that the catalog no longer names, and parts of downloads. */
export async function pruneModels(flags: ModelsFlags): Promise<void> {
  await interruptible(async (signal) => {
    const catalog = await openCatalog(flags);
    const kept = catalog.entries.flatMap(({ variants }) => variants).filter(isDownload);
    const removed = await catalog.downloads.prune(kept, signal);
    if (flags.json) return printJson({ removed });
    for (const file of removed) print(printable(`removed ${file}`));
    if (removed.length === 0) print('nothing to remove');
  });
}

async function inspected(
  catalog: Catalog,
  entries: readonly CatalogEntry[],
  { signal, gpu }: { signal: AbortSignal; gpu: string | undefined },
): Promise<ListedModel[]> {
  const files = await modelFiles(catalog, signal, { entries, withChecksums: false });
  // Nothing can be loaded where the addon does not load, and its reason is in the way of a list of files.
  const devices = await import('../../models/expected-device.js').catch(() => undefined);
  return Promise.all(
    files.map(async (file) => {
      const { type, variant, state, path } = file;
      const present = state === 'present' ? path : undefined;
      const { remote } = variant;
      const device =
        remote === undefined
          ? await devices?.expectedDevice(type, variant.placement, present, gpu)
          : hostOf(remote);
      return listedModel(catalog, file, device);
    }),
  );
}

/** Returns the name of the GPU that the server would use, if any. */
async function usableGpu(config: ServerConfig | undefined): Promise<string | undefined> {
  const backend = config?.engines.llm_engine.backend ?? 'auto';
  const library = await import('../../../lib/internal.js').catch(() => undefined);
  return (await library?.findBackend(backend))?.device?.name;
}

const states = {
  present: 'present',
  absent: 'absent',
  remote: 'not downloaded',
  damaged: 'damaged',
  refused: 'refused',
} as const;

function listedModel(catalog: Catalog, file: ModelFile, device: string | undefined): ListedModel {
  const { model, type, variant, state, path, bytes, reason, used, contradictions, unusable } = file;
  const { remote } = variant;
  const shown = remote !== undefined && state === 'present' ? 'remote' : states[state];
  return {
    ...{ name: model, type, variant: variant.name ?? null, state: shown, used },
    bytes: bytes ?? variant.size_bytes ?? null,
    device: device ?? null,
    license: catalog.find(model)?.license ?? null,
    path: path ?? null,
    source: remote?.url ?? variant.hf ?? (variant.url === undefined ? null : withoutSecrets(variant.url)),
    reason: reason ?? null,
    note: variant.note ?? null,
    contradictions: contradictions.map(({ text }) => text),
    unusable: unusable ?? null,
  };
}

/** Prints damage and contradictions, below the table. */
function printRemarks(listed: readonly ListedModel[]): void {
  for (const { name, variant, reason, contradictions } of listed) {
    const which = variant === null ? name : `${name} (${variant})`;
    if (reason !== null) print(printable(`${which}: ${reason}`));
    for (const text of contradictions) print(printable(`${which}: contradiction: ${text}`));
  }
}

const stateText = ({ state, used, unusable }: ListedModel) => {
  const refused = state === 'present' && unusable !== null;
  return [state, ...(used ? ['used'] : []), ...(refused ? ['not loadable'] : [])].join(', ');
};

function printTable(listed: readonly ListedModel[]): void {
  const layout = [
    { title: 'model', align: 'left' },
    { title: 'type', align: 'left' },
    { title: 'variant', align: 'left' },
    { title: 'state', align: 'left' },
    { title: 'size', align: 'right' },
    { title: 'device', align: 'left' },
    { title: 'licence', align: 'left' },
  ] as const;
  const rows = listed.map((one) => [
    printable(one.name),
    one.type,
    printable(one.variant ?? '-'),
    stateText(one),
    one.bytes === null ? '-' : size(one.bytes),
    one.device ?? '-',
    printable(one.license ?? '-'),
  ]);
  for (const line of fittedTable(layout, rows, new Screen(process.stdout).limit)) print(line);
}

/** @throws CommandError if the entry has nothing to download, or not the named variant */
function downloadable(entry: CatalogEntry, name: string | undefined, catalog: Catalog): ModelVariant {
  const chosen = catalog.downloadable(entry, name);
  if (chosen !== undefined) return chosen;
  const remote = entry.variants.some(isDownload);
  const { path, present, variant } = catalog.locate(entry);
  if (variant.remote !== undefined)
    throw new CommandError(
      'NOT_FOUND',
      `${JSON.stringify(entry.name)} needs no download: the server ${path} computes it`,
    );
  if (!remote && name === undefined && present)
    throw new CommandError(
      'NOT_FOUND',
      `${JSON.stringify(entry.name)} needs no download: its file is ${path}`,
    );
  const place = remote ? '' : `: put its file at ${path}${knownElsewhere(catalog, entry.name)}`;
  throw new CommandError('NOT_FOUND', `${nothingToPull(entry, name)}${place}`);
}
