import { createHash } from 'node:crypto';
import { LorekeepError } from '../../../lib/basics.js';
import { partNames, statedChecksum } from '../../base/files/model-parts.js';

/** Where a file of a model can be had: `url`, or `hf` as "user/repository/path/file.gguf#revision". */
export interface Source {
  url?: string | undefined;
  hf?: string | undefined;
  sha256?: string | undefined;
  parts_sha256?: readonly string[] | undefined;
}

export interface Address {
  readonly url: URL;
  /** Whether the hub of HF_TOKEN and HF_ENDPOINT has the file. */
  readonly hub: boolean;
  /** Sent to the origin of `url` only. */
  readonly token: string | undefined;
}

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const hubAddress = 'https://huggingface.co';

/** Returns the address of a source. @throws INVALID_ARGUMENT */
export function addressOf({ url, hf }: Source, environment: Environment): Address {
  if (hf !== undefined) return hubFile(hf, environment);
  const address = webAddress(url ?? '', JSON.stringify(withoutSecrets(url ?? '')));
  return { url: address, hub: false, token: undefined };
}

/** Returns an address without password and signature, also a mistyped one. */
export function withoutSecrets(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) return shownAddress(parsed);
  // A password may hold any of these characters.
  return url.replace(/^([a-z+.-]+:\/\/)?.*@/is, '$1').replace(/[?#].*$/s, '');
}

/** `what`: the address in a message. */
function webAddress(text: string, what: string): URL {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw refused(`${what} is not an http or https address`);
  if (parsed.username !== '' || parsed.password !== '')
    throw refused('an address with a user name or a password is not accepted');
  return parsed;
}

/** @throws INVALID_ARGUMENT for a name that leaves its folder */
function hubParts(hf: string): { repository: string; path: string; revision: string } {
  const parts = /^(?:hf:)?([\w.-]+\/[\w.-]+)\/([^#?\\]+?)(?:#([\w./-]+))?$/.exec(hf);
  const [, repository = '', path = '', revision = 'main'] = parts ?? [];
  if (parts === null || `${repository}/${path}/${revision}`.split('/').some((name) => /^\.*$/.test(name)))
    throw refused(`${JSON.stringify(hf)} is not of the form user/repository/file.gguf#revision`);
  return { repository, path, revision };
}

function hubFile(hf: string, { HF_ENDPOINT, HF_TOKEN }: Environment): Address {
  const { repository, path, revision } = hubParts(hf);
  const base = webAddress(HF_ENDPOINT?.trim() || hubAddress, 'the environment variable HF_ENDPOINT');
  if (base.search !== '' || base.hash !== '') throw refused('HF_ENDPOINT has a query or a fragment');
  const endpoint = base.href.replace(/\/+$/, '');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const url = new URL(`${endpoint}/${repository}/resolve/${encodeURIComponent(revision)}/${encoded}`);
  const token = HF_TOKEN?.trim() || undefined;
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw refused(
      'the environment variable HF_TOKEN is not a token: it has a space, a line break or another letter',
    );
  return { url, hub: true, token };
}

const refused = (reason: string) => new LorekeepError('INVALID_ARGUMENT', reason, { field: 'url', reason });

/** The address without its query, which may hold a signature. */
export const shownAddress = ({ origin, pathname }: URL) => `${origin}${pathname}`;

/**
 * Returns the names that the files of a source have in the folder of downloads; several for a split GGUF. They depend on the
 * address and the checksum, so that another file never replaces a file in use. @throws INVALID_ARGUMENT
 */
export function fileNames(source: Source): string[] {
  const { url, hf, sha256 = '', parts_sha256: sums = [] } = source;
  const path = hf === undefined ? addressOf(source, {}).url.pathname : hubParts(hf).path;
  const name = plainText(path.split('/').at(-1) || 'model')
    .replace(/[^\w.+-]/g, '_')
    .slice(-120);
  const unique = createHash('sha256')
    .update(`${url ?? ''}\n${hf ?? ''}\n${[sha256, ...sums].join('').toLowerCase()}`)
    .digest('hex')
    .slice(0, 8);
  return partSources(source).length === 1 ? [`${unique}-${name}`] : partNames(`${unique}-${name}`);
}

/** Percent signs that encode nothing stay. */
function plainText(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** Returns the sources of the files of a split GGUF, or the source itself, each with its checksum. @throws INVALID_ARGUMENT */
export function partSources(source: Source): Source[] {
  const { url, hf } = source;
  return (hf === undefined ? urlParts(url ?? '') : hfParts(hf)).map((place, index) => ({
    ...(hf === undefined ? { url: place } : { hf: place }),
    sha256: statedChecksum(source, index),
  }));
}

function hfParts(hf: string): string[] {
  hubParts(hf); // checks it
  const [plain = '', revision] = hf.split('#');
  return partNames(plain).map((name) => (revision === undefined ? name : `${name}#${revision}`));
}

function urlParts(url: string): string[] {
  const { pathname } = addressOf({ url }, {}).url;
  const names = partNames(pathname);
  if (names.length === 1) return [url];
  return names.map((name) => Object.assign(new URL(url), { pathname: name }).href);
}
