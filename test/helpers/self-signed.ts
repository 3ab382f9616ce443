import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A key and a certificate of 127.0.0.1 that nobody trusts; undefined, with a printed reason, where there is no openssl. */
export function selfSigned(
  inFolder: (name: string) => string,
): { key: string; cert: string; certFile: string } | undefined {
  const keyFile = inFolder('key.pem');
  const certFile = inFolder('cert.pem');
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const { status, error } = spawnSync('openssl', ['req', ...kind, ...names, ...files]);
  if (status !== 0) {
    console.log(`left out: no certificate, because openssl does not work (${error?.message ?? status})`);
    return undefined;
  }
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8'), certFile };
}
