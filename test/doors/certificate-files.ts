import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { certificate, privateKey } from './certificate.js';

/** Writes the certificate and its key, and returns the fields of `http` that name them. */
export function certificateFiles(): { tls_cert: string; tls_key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [tls_cert, tls_key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(tls_cert, certificate);
  writeFileSync(tls_key, privateKey, { mode: 0o600 });
  return { tls_cert, tls_key };
}
