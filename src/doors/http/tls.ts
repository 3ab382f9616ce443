import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { StartupError } from '../../config/startup-error.js';

/** The certificate of the doors. */
export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly certificate: X509Certificate;
}

/** Reads the files of the config; undefined without TLS. @throws StartupError */
export async function readTls({
  tls_cert,
  tls_key,
}: {
  tls_cert: string;
  tls_key: string;
}): Promise<Tls | undefined> {
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
