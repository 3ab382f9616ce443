import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { npmCommand } from '../tool/command.mjs';
import { Stop } from '../tool/stop.mjs';

/** Fetches one npm package by specifier and integrity and unpacks it into `folder`. */
export async function fetchPackage(source, folder) {
  const pacote = await loadPacote(source);
  try {
    await pacote.extract(source.package, folder, { ...npmSettings(), integrity: source.integrity });
  } catch (error) {
    throw new Stop(explain(source, error));
  }
}

async function loadPacote(source) {
  try {
    return (await import('pacote')).default;
  } catch {
    throw new Stop(
      `${source.name}: its sources are not in native/vendor, and the package that fetches them (pacote) is not installed; ` +
        'run `npm ci` in a git checkout, or reinstall the published package, which carries them',
    );
  }
}

/** What the user's npm is told about registries, proxies and certificates; pacote reads no configuration of its own. */
function npmSettings() {
  const [command, ...args] = npmCommand();
  const text = execFileSync(command, [...args, 'config', 'list', '--json'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32' && command === 'npm',
  });
  const config = JSON.parse(text);
  return {
    registry: config.registry,
    cache: config.cache && `${config.cache}/_cacache`,
    ca: config.cafile ? readFileSync(config.cafile, 'utf8') : (config.ca ?? undefined),
    httpsProxy: config['https-proxy'] ?? undefined,
    proxy: config.proxy ?? undefined,
    noProxy: config.noproxy || undefined,
    strictSSL: config['strict-ssl'],
    preferOffline: true,
    retry: { retries: config['fetch-retries'] },
    timeout: config['fetch-timeout'],
  };
}

function explain(source, error) {
  const what = `${source.name}: the package ${source.package}`;
  switch (error.code) {
    case 'EINTEGRITY':
      return `${what} has another content than the manifest says (expected ${source.integrity}); nothing was unpacked: correct the manifest, or find out who changed the package`;
    case 'E404':
    case 'ETARGET':
    case 'ENOVERSIONS':
    case 'ENOENT':
      return `${what} does not exist in the configured registry; correct its name or version in scripts/vendor/manifest.json`;
    default:
      return `${what} could not be fetched (${error.code ?? error.name}: ${String(error.message).split('\n')[0]}); check the network and \`npm config get registry\`, then run it again`;
  }
}
