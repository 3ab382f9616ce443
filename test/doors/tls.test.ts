import { writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from '../../src/log/log.js';
import { certificate, endedCertificate } from './certificate.js';
import { certificateFiles } from './certificate-files.js';
import { door } from './door-setting.js';

const patient = { timeout: 60_000 };

/** The common name of the certificate that a new connection is shown. */
const shownBy = (port: number) =>
  new Promise<string | undefined>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN as string | undefined);
      socket.destroy();
    }).on('error', reject);
  });

it('a renewed certificate serves new connections, and one that ended is told of once', async () => {
  const tls = certificateFiles();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const warnings: string[] = [];
  const log = createLog('warn', { write: (line) => void warnings.push(JSON.parse(line).msg) });
  const { port } = await door(tls, { log });
  expect(await shownBy(port)).toBe('lorekeep.test');
  const minute = () => vi.advanceTimersByTime(60_000);

  // Half of a renewal: the last certificate stays.
  writeFileSync(tls.tls_cert, endedCertificate.slice(0, 100));
  minute();
  const unusable = /cert\.pem: is no certificate in PEM; the last certificate stays in use$/;
  await expect.poll(() => warnings, patient).toEqual([expect.stringMatching(unusable)]);
  expect(await shownBy(port)).toBe('lorekeep.test');

  writeFileSync(tls.tls_cert, endedCertificate);
  minute();
  await expect.poll(() => shownBy(port), patient).toBe('renewed.test');
  minute();
  const ended = /cert\.pem: ended on Feb {2}1 00:00:00 2020 GMT: clients refuse it; renew it$/;
  await expect
    .poll(() => warnings, patient)
    .toEqual([expect.stringMatching(unusable), expect.stringMatching(ended)]);

  writeFileSync(tls.tls_cert, certificate);
  minute();
  await expect.poll(() => shownBy(port), patient).toBe('lorekeep.test');
  expect(warnings).toHaveLength(2);
});
