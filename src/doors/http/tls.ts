import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
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
  try {
    return { cert, key, certificate: new X509Certificate(cert) };
  } catch {
    throw new StartupError(`http.tls_cert: ${tls_cert}: is no certificate in PEM`);
  }
}
