import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, statfs } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { LorekeepError, onAbort, renameOver, syncFolder, systemReason } from '../../../lib/basics.js';
import type { FolderLock } from '../../base/files/folder-lock.js';
import { type Address, shownAddress } from './address.js';
import { Partial, type PartialState } from './partial.js';
import { ProxyRefusal } from './proxy-tunnels.js';
import { type Answer, get, type RequestError } from './request.js';

export interface FetchOptions {
  address: Address;
  /** Where the file goes. */
  path: string;
  /** Size and checksum that the catalog states. */
  sha256?: string | undefined;
  sizeBytes?: number | undefined;
  /** Bytes that the disk must have room for, if more than the file's: the parts after it included. */
  roomBytes?: number | undefined;
  signal: AbortSignal;
  /** Of the folder. */
  lock: FolderLock;
  /** Called when the file has its name. A process that is killed before it returns leaves the state of the part, by which recordLost() knows the file. */
  record(fetched: Fetched): Promise<void>;
  onProgress?(done: number, total: number): void;
  /** Told why an attempt failed, and after how many ms the next begins. */
  onRetry?(reason: string, pauseMs: number): void;
  /** Longest silence of a server in ms; the time over which its speed is measured. */
  stallMs?: number;
  /** Bytes per second below which a server counts as broken; 0: any speed will do. */
  minSpeed: number;
  /** First delay before another attempt, in ms; doubled up to 30 s. */
  retryMs?: number;
}

export interface Fetched {
  sha256: string;
  bytes: number;
}

/** Attempts in a row without a new byte, or with fewer than `minSpeed` allows for. */
const maxAttempts = 6;
/** Times that bytes are dropped, because the file has changed or cannot be continued. */
const maxRestarts = 6;
const longestRetryMs = 30_000;
const longestRetryAfterMs = 300_000;
/** Disk space that stays free. */
const reserveBytes = 64 * 1024 * 1024;

/** undici's code of a body that is shorter or longer than its Content-Length. */
const lengthMismatch = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';

/** Of a connection that the server closed. */
const closed = 'UND_ERR_SOCKET';

/** A failure after which another attempt may succeed. */
class Retry extends Error {
  readonly afterMs: number | undefined;

  constructor(reason: string, afterMs?: number) {
    super(reason);
    this.afterMs = afterMs;
  }
}

/**
 * Downloads a file under its own name, completely and verified, or not at all. An interrupted download continues where it
 * stopped if the server says that the file is the same; otherwise it starts over.
 * @throws NOT_FOUND, IO, CORRUPT, INVALID_ARGUMENT; the signal's reason
 */
export async function fetchFile(options: FetchOptions): Promise<void> {
  const partial = new Partial(options.path);
  let attempts = 0;
  let restarts = 0;
  let known = -1;
  let since = performance.now();
  for (;;) {
    try {
      return await attempt(options, partial);
    } catch (error) {
      await options.lock.check();
      if (!(error instanceof Retry)) await partial.removeIfEmpty();
      options.signal.throwIfAborted();
      if (!(error instanceof Retry)) throw error;
      const length = await partialLength(options, partial);
      const now = performance.now();
      const enough = Math.max(1, (options.minSpeed * (now - since)) / 1000);
      attempts = known >= 0 && length - known < enough ? attempts + 1 : 1;
      if (length < known) restarts++;
      known = length;
      since = now;
      if (attempts >= maxAttempts || restarts >= maxRestarts) {
        await partial.removeIfEmpty();
        throw failure('IO', options, `${error.message}; given up`);
      }
      const backoff = Math.min((options.retryMs ?? 1000) * 2 ** (attempts - 1), longestRetryMs);
      const pause = error.afterMs ?? backoff;
      options.onRetry?.(error.message, pause);
      await delay(pause, undefined, { signal: options.signal }).catch(() => options.signal.throwIfAborted());
    }
  }
}

async function partialLength({ address }: FetchOptions, partial: Partial): Promise<number> {
  const { file, length } = await partial.open(shownAddress(address.url));
  await file.close();
  return length;
}

async function attempt(options: FetchOptions, partial: Partial): Promise<void> {
  const { address, signal } = options;
  const url = shownAddress(address.url);
  const opened = await partial.open(url);
  const { file, state, length } = opened;
  let linked = state?.sha256;
  try {
    if (state === undefined || length < state.total) {
      const stall = new StallGuard(options.stallMs ?? 30_000, options.minSpeed, signal);
      try {
        linked = await receive(options, partial, opened, stall);
      } finally {
        stall.end();
      }
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return finish(options, partial, linked);
}

/** Asks for the missing bytes and appends them. Returns the checksum that the server told. */
async function receive(
  options: FetchOptions,
  partial: Partial,
  { file, state, length }: { file: FileHandle; state: PartialState | undefined; length: number },
  stall: StallGuard,
): Promise<string | undefined> {
  const { address } = options;
  const resume = state !== undefined && length > 0;
  const headers: Record<string, string> = resume ? { range: `bytes=${length}-`, 'if-range': state.etag } : {};
  const answer = await get(address, headers, stall.signal).catch((error: RequestError) => {
    throw transient(options, error, stall);
  });
  try {
    await options.lock.check();
    const encoding = String(answer.headers['content-encoding'] ?? 'identity');
    if (answer.status < 300 && encoding !== 'identity')
      throw failure(
        'IO',
        options,
        `the server sends the file encoded (${encoding}), though it was asked not to`,
      );
    if (resume && isPart(answer)) {
      const total = continuedTotal(answer, length);
      if (total < 0) throw await startOver(partial, 'the server sent another part than it was asked for');
      if (total !== state.total || strongEtag(answer) !== state.etag)
        throw await startOver(partial, 'the file has changed on the server');
      await checkSize(options, total, length);
      await append(options, file, answer.body, length, total, stall);
      return answer.linkedSha256 ?? state.sha256;
    }
    if (answer.status === 416 && resume)
      throw await startOver(partial, 'the server no longer has that part of the file');
    if (answer.status !== 200) throw refusal(options, answer);
    if (isPart(answer) && !isWhole(answer))
      throw new Retry('the server sent a part of the file, though the whole was asked for');
    const total = await announcedTotal(options, answer);
    const sha256 = answer.linkedSha256;
    const url = shownAddress(address.url);
    await partial.begin(file, { url, etag: strongEtag(answer), total, ...(sha256 && { sha256 }) });
    await append(options, file, answer.body, 0, total, stall);
    return answer.linkedSha256;
  } finally {
    answer.body.on('error', () => {}).destroy();
  }
}

async function startOver(partial: Partial, reason: string): Promise<Retry> {
  await partial.remove();
  return new Retry(`${reason}; starting over`);
}

/** Whether an answer is a range of the file. Some servers honour Range, but answer 200: Content-Range tells. */
const isPart = ({ status, headers }: Answer) =>
  status === 206 || (status === 200 && headers['content-range'] !== undefined);

function isWhole({ headers }: Answer): boolean {
  const range = /^bytes 0-(\d+)\/(\d+)$/.exec(String(headers['content-range'] ?? ''));
  return range !== null && Number(range[1]) === Number(range[2]) - 1;
}

/** Bytes in a Content-Range that begins where the partial file ends; -1 if it does not. */
function continuedTotal({ headers }: Answer, from: number): number {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(String(headers['content-range'] ?? ''));
  return range !== null && Number(range[1]) === from ? Number(range[2]) : -1;
}

/** A weak ETag does not promise equal bytes, so it does not serve to resume. */
function strongEtag({ headers }: Answer): string {
  const etag = String(headers.etag ?? '');
  return /^"[^"]*"$/.test(etag) ? etag : '';
}

async function announcedTotal(options: FetchOptions, answer: Answer): Promise<number> {
  const stated = answer.headers['content-length'];
  const length = Number(stated ?? Number.NaN);
  if (stated !== undefined && length > Number.MAX_SAFE_INTEGER)
    throw failure('IO', options, 'the server states a length that no file can have');
  const total = Number.isSafeInteger(length) ? length : (answer.linkedSize ?? options.sizeBytes ?? -1);
  if (total < 0)
    throw failure(
      'IO',
      options,
      'the server does not state the length of the file; set size_bytes in the catalog',
    );
  await checkSize(options, total, 0);
  return total;
}

/** Refuses a file whose length differs from the catalog's, and one for which the disk has no room. `there`: bytes already downloaded. */
async function checkSize(options: FetchOptions, total: number, there: number): Promise<void> {
  const { sizeBytes, roomBytes = 0, path } = options;
  if (sizeBytes !== undefined && total !== sizeBytes)
    throw failure('CORRUPT', options, `the server has ${total} bytes, the catalog says ${sizeBytes}`);
  const { bavail, bsize } = await statfs(dirname(path));
  const free = Math.max(0, bavail * bsize - reserveBytes);
  const needed = Math.max(total, roomBytes) - there;
  if (needed > free)
    throw failure(
      'IO',
      options,
      `it needs ${needed} bytes, and the disk has room for ${free}; ${reserveBytes >> 20} MiB stay free`,
    );
}

async function append(
  options: FetchOptions,
  file: FileHandle,
  body: Readable,
  from: number,
  total: number,
  stall: StallGuard,
): Promise<void> {
  const { onProgress, signal } = options;
  let done = from;
  onProgress?.(done, total);
  try {
    for await (const chunk of body) {
      const bytes = chunk as Buffer;
      stall.moved(bytes.length);
      if (done + bytes.length > total) throw new Retry('the server sent more than it announced');
      await options.lock.check();
      await file.appendFile(bytes);
      done += bytes.length;
      onProgress?.(done, total);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isDiskError(error))
      throw failure('IO', options, `its part cannot be written: ${systemReason(error)}`);
    const ended = [lengthMismatch, closed].includes((error as RequestError).code ?? '') && done < total;
    if (!ended) throw error instanceof Retry ? error : transient(options, error as RequestError, stall);
  }
  if (done < total) throw new Retry(`the connection ended after ${done} of ${total} bytes`);
}

const isDiskError = (error: unknown) => {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'write' && ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EFBIG'].includes(code ?? '');
};

/** Verifies the whole file and gives it its name. */
async function finish(options: FetchOptions, partial: Partial, linked: string | undefined): Promise<void> {
  const { path } = options;
  const { sha256, bytes, start } = await digest(partial.path, options.signal);
  await options.lock.check();
  const expected = (options.sha256 ?? linked)?.toLowerCase();
  const whose = options.sha256 === undefined ? 'the server' : 'the catalog';
  let damage: string | undefined;
  if (expected !== undefined && sha256 !== expected)
    damage = `its SHA-256 is ${sha256}, ${whose} says ${expected}`;
  else if (options.sizeBytes !== undefined && bytes !== options.sizeBytes)
    damage = `it has ${bytes} bytes, the catalog says ${options.sizeBytes}`;
  // Without a checksum, the first bytes must at least be those of a model.
  else if (expected === undefined && /\.gguf$/i.test(path) && !ggufHead.test(start))
    damage = 'it is not a GGUF file';
  else if (expected === undefined && isPage(start)) damage = 'it is a web page, not a model';
  else if (expected === undefined && !ggufHead.test(start) && !start.startsWith(ggmlMagic))
    damage = 'it is not a model: it begins neither as a GGUF file nor as a ggml file';
  if (damage !== undefined) {
    await partial.remove();
    throw failure('CORRUPT', options, `${damage}; it was removed`);
  }
  await renameOver(partial.path, path, () => refuseTaken(path));
  await syncFolder(dirname(path));
  await options.record({ sha256, bytes });
  await partial.forget();
}

/** The first bytes of GGUF files: the name of the format and a small version, whose bytes have either order. */
const ggufHead = /^GGUF(?:[^\0]\0{3}|\0{3}[^\0])/;

/** The first bytes of the older files that whisper.cpp reads. */
const ggmlMagic = 'lmgg';

const isPage = (start: string) => /^(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml)/i.test(start);

/** Records a complete file if a process was killed before it could. Precondition: the lock of the folder is held. */
export async function recordLost({ path, signal, record }: RecordLostOptions): Promise<void> {
  const partial = new Partial(path);
  if (!(await partial.isComplete())) return;
  const { sha256, bytes } = await digest(path, signal);
  await record({ sha256, bytes });
  await partial.forget();
}

export type RecordLostOptions = Pick<FetchOptions, 'path' | 'signal' | 'record'>;

/** Under the lock of the folder no lorekeep process makes the file: an existing one belongs to another program, also a link. */
async function refuseTaken(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || (found.isFile() && found.size === 0)) return;
  const reason = `${basename(path)} exists and is not this download; move it away`;
  throw LorekeepError.about('IO', { file: path, reason });
}

/** `start`: the first bytes, one letter each. */
async function digest(
  path: string,
  signal: AbortSignal,
): Promise<{ sha256: string; bytes: number; start: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  let start = '';
  const source = createReadStream(path, { highWaterMark: 1024 * 1024 });
  source.on('data', (chunk) => {
    if (bytes === 0) start = (chunk as Buffer).toString('latin1', 0, 64);
    bytes += chunk.length;
  });
  await pipeline(source, hash, { signal });
  return { sha256: hash.digest('hex'), bytes, start };
}

function refusal(options: FetchOptions, { status, headers, redirects }: Answer): Error {
  if (status === 429 || status === 408 || status >= 500)
    return new Retry(`the server answered ${status}`, retryAfter(String(headers['retry-after'] ?? '')));
  // The signed address of a redirect has expired: the first address gives a new one.
  if (status === 403 && redirects > 0) return new Retry('the address behind the redirect has expired');
  if (status === 404 || status === 410)
    return failure('NOT_FOUND', options, 'the server does not have the file');
  const hint = status === 401 || status === 403 ? `; ${loginHint(options.address)}` : '';
  return failure('IO', options, `the server answered ${status}${hint}`);
}

function loginHint({ hub, token }: Address): string {
  if (!hub) return 'HF_TOKEN is sent to an address of hf, not of url';
  return token === undefined ? 'set HF_TOKEN if the model asks for a login' : 'it does not accept HF_TOKEN';
}

function retryAfter(header: string): number | undefined {
  if (header === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestRetryAfterMs);
}

/** Errors of certificates and redirects are not repeated: they do not go away. */
function transient(options: FetchOptions, error: RequestError, stall: StallGuard): Error {
  if (stall.reason !== undefined) return new Retry(stall.reason);
  if (error instanceof LorekeepError) return error;
  if (error instanceof ProxyRefusal) {
    if (error.status >= 500 || error.status === 429) return new Retry(error.message);
    return failure('IO', options, error.message);
  }
  const { code = '', name, message, redirected } = error;
  // Whoever asked for the file must not learn the names of other hosts.
  const whose = redirected ? "the redirected server's" : "the server's";
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code))
    return failure('IO', options, `${whose} certificate is not accepted: ${code}`);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return failure('IO', options, `the headers of ${whose} answer are too long`);
  if (code === lengthMismatch) return new Retry(`${whose} answer is not as long as its header says`);
  if (name === 'HTTPParserError') return new Retry(`${whose} answer cannot be read: ${message}`);
  const where = redirected ? ' to the host that it redirects to' : '';
  return new Retry(`no connection${where}: ${code === '' ? message : `${code}${proxyHint()}`}`);
}

/** Names a proxy of the environment: perhaps it could not be connected. */
function proxyHint(): string {
  const name = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].find((each) => process.env[each]);
  return name === undefined ? '' : ` (${name} names a proxy)`;
}

function failure(
  code: 'NOT_FOUND' | 'IO' | 'CORRUPT',
  { address }: FetchOptions,
  reason: string,
): LorekeepError {
  return new LorekeepError(code, `${shownAddress(address.url)}: ${reason}`, { reason });
}

/** Aborts a request whose server is silent, or slower than `minSpeed` for `stallMs`. */
class StallGuard {
  readonly signal: AbortSignal;
  /** Why the request was aborted. */
  reason: string | undefined;
  readonly #stop = new AbortController();
  readonly #stallMs: number;
  readonly #minSpeed: number;
  readonly #silence: NodeJS.Timeout;
  /** From the first byte on. */
  #slowness: NodeJS.Timeout | undefined;
  readonly #unlink: () => void;
  /** Since #slowness last fired. */
  #bytes = 0;

  constructor(stallMs: number, minSpeed: number, signal: AbortSignal) {
    this.#stallMs = stallMs;
    this.#minSpeed = minSpeed;
    this.signal = this.#stop.signal;
    const end = () => this.#stop.abort(signal.reason);
    this.#unlink = onAbort(signal, end);
    if (signal.aborted) end();
    this.#silence = setTimeout(() => this.#abort('the server sent nothing for a while'), stallMs);
  }

  moved(bytes: number): void {
    this.#silence.refresh();
    this.#slowness ??= setInterval(() => this.#checkSpeed(), this.#stallMs);
    this.#bytes += bytes;
  }

  end(): void {
    clearTimeout(this.#silence);
    clearInterval(this.#slowness);
    this.#unlink();
  }

  #checkSpeed(): void {
    const seconds = this.#stallMs / 1000;
    if (this.#bytes < this.#minSpeed * seconds)
      this.#abort(
        `the server sent ${this.#bytes} bytes in ${seconds} s, less than ${this.#minSpeed} per second`,
      );
    this.#bytes = 0;
  }

  #abort(reason: string): void {
    this.reason ??= reason;
    this.#stop.abort();
  }
}
