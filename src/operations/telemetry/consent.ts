import type { ServerConfig } from '../../config/schema.js';

export type TelemetryConfig = ServerConfig['telemetry'];
export type SinkConfig = TelemetryConfig['sinks'][number];

/** Returns the reason that no sink may send, or undefined. */
export function whyDisabled(
  { enabled, sinks }: TelemetryConfig,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  // https://donottrack.sh: any value but an empty one or 0 opts out.
  const { DO_NOT_TRACK: doNotTrack = '', LOREKEEP_TELEMETRY: own = '' } = environment;
  if (doNotTrack !== '' && doNotTrack !== '0') return 'the environment sets DO_NOT_TRACK';
  // Who sets it to anything else wants none.
  if (!/^(1|true|on|yes)?$/i.test(own.trim())) return `the environment sets LOREKEEP_TELEMETRY=${own}`;
  if (!enabled) return 'telemetry.enabled is false';
  return sinks.length === 0 ? 'telemetry.sinks is empty' : undefined;
}

/** Returns the reason that this sink sends nothing, or undefined. */
export function whySilent(sink: SinkConfig): string | undefined {
  const { enabled, endpoint, project_api_key } = sink;
  if (!enabled) return 'enabled is false';
  if (endpoint === '') return 'it has no endpoint';
  if (project_api_key === '') return 'it has no project_api_key';
  return batchUrl(endpoint) === undefined ? 'its endpoint is not an http or https URL' : undefined;
}

/** Returns whether a sink is to send and cannot: one of endpoint and key is missing, or the endpoint is not a URL of the web. */
export function isMistaken(sink: SinkConfig): boolean {
  const { enabled, endpoint, project_api_key } = sink;
  const isMeant = endpoint !== '' || project_api_key !== '';
  return enabled && isMeant && whySilent(sink) !== undefined;
}

/** Returns the address that a sink posts to, or undefined if the endpoint is not a URL of the web. */
export function batchUrl(endpoint: string): URL | undefined {
  if (!URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith('/batch') ? `${path}/` : `${path}/batch/`;
  return url;
}
