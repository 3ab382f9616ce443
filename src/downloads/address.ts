import { createHash } from 'node:crypto';
import { LorekeepError } from '../../lib/errors.js';

/** Where a file of a model can be had: `url`, or `hf` as "user/repository/path/file.gguf#revision". */
export interface Source {
  url?: string | undefined;
  hf?: string | undefined;
  sha256?: string | undefined;
}

export interface Address {
  readonly url: URL;
  /** Sent to the origin of `url` only. */
  readonly token: string | undefined;
}

const hubAddress = 'https://huggingface.co';

/** Returns the address of a source. @throws INVALID_ARGUMENT */
export function addressOf({ url, hf }: Source, environment: NodeJS.ProcessEnv): Address {
  if (hf !== undefined) return hubFile(hf, environment);
  const parsed = URL.canParse(url ?? '') ? new URL(url ?? '') : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw refused(`${JSON.stringify(url)} is not an http or https address`);
  if (parsed.username !== '' || parsed.password !== '')
    throw refused('an address with a user name or a password is not accepted');
  return { url: parsed, token: undefined };
}

function hubFile(hf: string, { HF_ENDPOINT, HF_TOKEN }: NodeJS.ProcessEnv): Address {
  const parts = /^(?:hf:)?([\w.-]+\/[\w.-]+)\/([^#?\\]+?)(?:#([\w./-]+))?$/.exec(hf);
  const [, repository = '', path = '', revision = 'main'] = parts ?? [];
  if (parts === null || `${repository}/${path}`.split('/').some((name) => /^\.*$/.test(name)))
    throw refused(`${JSON.stringify(hf)} is not of the form user/repository/file.gguf#revision`);
  const endpoint = (HF_ENDPOINT || hubAddress).replace(/\/+$/, '');
  if (!URL.canParse(endpoint)) throw refused('the environment variable HF_ENDPOINT is not an address');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const url = new URL(`${endpoint}/${repository}/resolve/${encodeURIComponent(revision)}/${encoded}`);
  return { url, token: HF_TOKEN || undefined };
}

const refused = (reason: string) => new LorekeepError('INVALID_ARGUMENT', reason, { field: 'url', reason });

/** The address without its query, which may hold a signature. */
export const shownAddress = ({ origin, pathname }: URL) => `${origin}${pathname}`;

/** Names of parts of a split GGUF: "model-00001-of-00003.gguf". */
const split = /-(\d{5})-of-(\d{5})(\.gguf)$/i;

/**
 * Returns the names that the files of a source have in the folder of downloads; several for a split GGUF. They depend on the
 * address and the checksum, so that another file never replaces one that is in use.
 */
export function fileNames(source: Source): string[] {
  const { url, hf, sha256 = '' } = source;
  const path =
    (hf === undefined ? new URL(url ?? 'http://x/x').pathname : (hf.split('#')[0] ?? '')) || 'model';
  const last = decodeURIComponent(path.split('/').at(-1) || 'model');
  const name = last.replace(/[^\w.+-]/g, '_').slice(-120);
  const unique = createHash('sha256')
    .update(`${url ?? ''}\n${hf ?? ''}\n${sha256.toLowerCase()}`)
    .digest('hex')
    .slice(0, 8);
  return partsOf(`${unique}-${name}`);
}

/** Returns the sources of the files of a split GGUF, or the source itself. Only the first part has the checksum. */
export function partSources(source: Source): Source[] {
  const { url, hf, sha256 } = source;
  const first = url ?? hf ?? '';
  return partsOf(first).map((part, index) => ({
    ...(url === undefined ? { hf: part } : { url: part }),
    ...(index === 0 && { sha256 }),
  }));
}

function partsOf(name: string): string[] {
  const [plain = '', revision] = name.split('#');
  const found = split.exec(plain);
  const count = Number(found?.[2] ?? 1);
  if (found === null || found[1] !== '00001' || count < 1 || count > 999) return [name];
  return Array.from({ length: count }, (_, index) => {
    const number = String(index + 1).padStart(5, '0');
    const part = plain.replace(split, `-${number}-of-$2$3`);
    return revision === undefined ? part : `${part}#${revision}`;
  });
}
