import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { fullGrant, type Grant, type Key } from '../config/keys-file.js';
import { fail } from '../protocol/errors.js';
import { FailureBudget, type FailureRate } from './failure-budget.js';

/** Budgets for wrong tokens, per address and in total. */
export const perAddress: FailureRate = { burst: 10, perSecond: 1 };
export const ofAll: FailureRate = { burst: 100, perSecond: 10 };

/** Number of remembered addresses that sent the right token: others' wrong tokens do not lock them out. */
const maxTrusted = 4096;

/** Number of pages with a secret of their own. */
const maxPasses = 64;

interface Secret {
  readonly digest: Buffer;
  readonly grant: Grant;
}

/** Admits clients that know the server's access token or, at the doors, one of its keys. */
export class AccessGate {
  #token: Buffer | undefined;
  readonly #spare: string | undefined;
  readonly #failures: FailureBudget;
  readonly #allFailures: FailureBudget;
  readonly #trusted = new Set<string>();
  #keys: readonly Secret[] = [];
  /** Of pages; the latest at the end. */
  #passes: Secret[] = [];

  /** `spare` is used if there is no `token`; without either, every client is admitted. `now`: a clock in ms. */
  constructor(token: string | undefined, now: () => number = () => performance.now(), spare?: string) {
    this.#spare = spare;
    this.replace(token);
    this.#failures = new FailureBudget(perAddress, now);
    this.#allFailures = new FailureBudget(ofAll, now);
  }

  /** Replaces the token, by the spare one if it is undefined. Sessions stay open. */
  replace(token = this.#spare): void {
    this.#token = token === undefined ? undefined : digest(token);
  }

  /** Replaces the keys of the doors. */
  replaceKeys(keys: readonly Key[]): void {
    this.#keys = keys.map(({ name, key, rights: given }) => ({
      digest: digest(key),
      grant: { rights: new Set(given), key: name },
    }));
  }

  /** Makes a secret for a page in a browser, valid until the server ends or many pages have come after it. */
  issuePass(grant: Grant): string {
    const pass = randomBytes(32).toString('base64url');
    this.#passes = [...this.#passes, { digest: digest(pass), grant }].slice(-maxPasses);
    return pass;
  }

  /** Whether clients of the doors need a secret. */
  get closesDoors(): boolean {
    return this.isClosed || this.#keys.length > 0;
  }

  /** Whether clients of the doors would need a secret with this token and these keys. */
  wouldCloseDoors(token: string | undefined, keys: readonly Key[]): boolean {
    return (token ?? this.#spare) !== undefined || keys.length > 0;
  }

  /** Whether clients need a token. */
  get isClosed(): boolean {
    return this.#token !== undefined;
  }

  /** Admits a client of the TCP port: only the access token counts. @throws as admit() */
  check(address: string, given: string | undefined): Grant {
    return this.isClosed ? this.#match(address, given, this.#tokens) : fullGrant;
  }

  /**
   * Admits a client of a door, by the access token or a key. `address`: of the client.
   * @throws AccessTokenMissing, AccessTokenWrong, TooManyWrongTokens
   */
  admit(address: string, given: string | undefined): Grant {
    if (!this.closesDoors) return fullGrant;
    return this.#match(address, given, [...this.#tokens, ...this.#keys, ...this.#passes]);
  }

  get #tokens(): readonly Secret[] {
    return this.#token === undefined ? [] : [{ digest: this.#token, grant: fullGrant }];
  }

  #match(address: string, given: string | undefined, secrets: readonly Secret[]): Grant {
    if (given === undefined) fail(2010, 'access_token: is missing; the server requires one', { path });
    const key = addressKey(address);
    const shared = this.#trusted.has(key) ? 0 : this.#allFailures.waitMs(everybody);
    const wait = Math.max(this.#failures.waitMs(key), shared);
    if (wait > 0) {
      const message = `access_token: too many were wrong; the next one is checked in ${wait} ms`;
      fail(2012, message, { path, retry_after_ms: wait });
    }
    const sent = digest(given);
    let grant: Grant | undefined;
    // Every secret is compared, so that the time does not tell which one was right.
    for (const secret of secrets) if (timingSafeEqual(sent, secret.digest)) grant ??= secret.grant;
    if (grant === undefined) this.#refuse(key);
    this.#trust(key);
    return grant;
  }

  #refuse(key: string): never {
    this.#failures.fail(key);
    this.#allFailures.fail(everybody);
    fail(2011, 'access_token: is wrong', { path });
  }

  #trust(key: string): void {
    this.#trusted.delete(key);
    this.#trusted.add(key);
    const [oldest] = this.#trusted;
    if (this.#trusted.size > maxTrusted && oldest !== undefined) this.#trusted.delete(oldest);
  }
}

const path = 'access_token';
const everybody = '';

/** Digest, of equal length for every text. */
const digest = (text: string) => createHash('sha256').update(text).digest();

/** One key per machine: an IPv6 host owns a /64, and an IPv4 address may be IPv4-mapped. */
export function addressKey(text: string): string {
  const bare = text.split('%')[0] as string;
  if (!ipaddr.isValid(bare)) return bare;
  const address = ipaddr.process(bare);
  return address.kind() === 'ipv4' ? address.toString() : address.toByteArray().slice(0, 8).join('.');
}
