import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { StartupError } from '../../config/startup-error.js';
import type { Log } from '../../log/log.js';

/** The certificate of the doors. */
export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly certificate: X509Certificate;
}

/** Fields of `http` in the config. */
export interface TlsFields {
  readonly tls_cert: string;
  readonly tls_key: string;
}

/** How often the files are read again, in ms. */
const rereadMs = 60_000;

/** How long before its end a certificate is called old, in ms. */
const oldMs = 14 * 24 * 3600 * 1000;

/** Reads the files of the config; undefined without TLS. @throws StartupError */
export async function readTls({ tls_cert, tls_key }: TlsFields): Promise<Tls | undefined> {
  if (tls_cert === '' && tls_key === '') return undefined;
  if (tls_cert === '' || tls_key === '')
    throw new StartupError('http.tls_cert, http.tls_key: both are expected, or neither');
  const read = async (field: string, path: string) =>
    readFile(path).catch((error: Error) => {
      throw new StartupError(`http.${field}: ${path}: cannot be read: ${error.message}`);
    });
  const cert = await read('tls_cert', tls_cert);
  const key = await read('tls_key', tls_key);
  const certificate = parsed(() => certificateOf(cert));
  if (certificate === undefined)
    throw new StartupError(`http.tls_cert: ${tls_cert}: is no certificate in PEM`);
  const privateKey = parsed(() => createPrivateKey({ key, format: 'pem' }));
  if (privateKey === undefined)
    throw new StartupError(`http.tls_key: ${tls_key}: is no private key in PEM without a passphrase`);
  if (!certificate.checkPrivateKey(privateKey))
    throw new StartupError(`http.tls_key: ${tls_key}: is the key of another certificate than ${tls_cert}`);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new StartupError(`http.tls_cert: ${tls_cert}: cannot be used: ${(error as Error).message}`);
  }
  return { cert, key, certificate };
}

/**
 * Reads the files again and again, and gives `take` a renewed certificate. Warns of one that browsers refuse, or soon
 * will, and of files that cannot be used, each once. Returns what ends it.
 */
export function followTls(
  fields: TlsFields,
  first: Tls,
  { take, log, everyMs = rereadMs }: { take: (tls: Tls) => void; log: Log; everyMs?: number },
): () => void {
  let current = first;
  let said: string | undefined;
  const say = (warning: string | undefined) => {
    if (warning !== undefined && warning !== said) log.warn(warning);
    said = warning;
  };
  const reread = async () => {
    try {
      const next = await readTls(fields);
      if (next !== undefined && !(next.cert.equals(current.cert) && next.key.equals(current.key))) {
        take(next);
        current = next;
        log.info({ until: next.certificate.validTo }, 'http: the certificate was renewed');
      }
      say(warningOf(fields, current));
    } catch (error) {
      say(`${(error as Error).message}; the last certificate stays in use`);
    }
  };
  say(warningOf(fields, first));
  const timer = setInterval(() => void reread(), everyMs).unref();
  return () => clearInterval(timer);
}

/** Why clients refuse the certificate, or soon will. */
function warningOf({ tls_cert }: TlsFields, { certificate }: Tls): string | undefined {
  const { validFrom, validTo } = certificate;
  const place = `http.tls_cert: ${tls_cert}`;
  if (Date.parse(validFrom) > Date.now()) return `${place}: not valid before ${validFrom}: clients refuse it`;
  const left = Date.parse(validTo) - Date.now();
  if (left <= 0) return `${place}: ended on ${validTo}: clients refuse it; renew it`;
  return left < oldMs ? `${place}: ends on ${validTo}; renew it` : undefined;
}

/** The first certificate of the file. X509Certificate reads DER, too, which a server does not. */
function certificateOf(file: Buffer): X509Certificate | undefined {
  return file.includes('-----BEGIN ') ? new X509Certificate(file) : undefined;
}

function parsed<Result>(parse: () => Result): Result | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
