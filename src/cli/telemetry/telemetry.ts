import { packageVersion } from '../../base/files/home.js';
import { batchUrl, type SinkConfig, whyDisabled, whySilent } from '../../operations/telemetry/consent.js';
import { newEventSource, turnEvent } from '../../operations/telemetry/events.js';
import { batchPayload } from '../../operations/telemetry/sink.js';
import { note, print, printJson } from '../output.js';
import { findConfig } from '../server-config.js';
import { printable } from '../terminal/printable.js';

export interface TelemetryFlags {
  config?: string;
  json?: boolean;
}

/** `lorekeep telemetry status`: every sink, and why it sends or does not. */
export async function telemetryStatus({ config: path, json }: TelemetryFlags): Promise<void> {
  const { config, file } = await findConfig(path);
  const { telemetry } = config;
  const disabled = whyDisabled(telemetry, process.env);
  const sinks = telemetry.sinks.map((sink) => ({
    url: batchUrl(sink.endpoint)?.href ?? null,
    reason: disabled ?? whySilent(sink) ?? null,
  }));
  const on = sinks.some(({ reason }) => reason === null);
  const userContent = telemetry.include_user_content;
  if (json) return printJson({ on, reason: disabled ?? null, file: file ?? null, userContent, sinks });
  const off = disabled ?? (on ? undefined : 'no sink may send');
  print(
    on ? `telemetry is on, ${userContent ? 'with' : 'without'} texts of users` : `telemetry is off: ${off}`,
  );
  for (const [index, { url, reason }] of sinks.entries()) {
    const state = reason === null ? `sends to ${url}` : `sends nothing: ${reason}`;
    print(`telemetry.sinks[${index}] ${printable(state)}`);
  }
  print(printable(`config: ${file ?? 'built-in defaults'}`));
}

/** `lorekeep telemetry show`: the body of a request with a sample turn. */
export async function telemetryShow({ config: path }: TelemetryFlags): Promise<void> {
  const { config } = await findConfig(path);
  const { telemetry } = config;
  const source = newEventSource(packageVersion, telemetry.include_user_content);
  const disabled = whyDisabled(telemetry, process.env);
  if (telemetry.sinks.length === 0) note('telemetry.sinks is empty: there is no request to show');
  for (const [index, sink] of telemetry.sinks.entries()) {
    const reason = disabled ?? whySilent(sink);
    const name = `telemetry.sinks[${index}]`;
    note(reason === undefined ? requestLine(sink) : `${name} sends nothing: ${reason}. It would send:`);
    const shown = { ...sink, project_api_key: shortKey(sink.project_api_key) };
    printJson(batchPayload(shown, [turnEvent(source, sampleTurn)], new Date()));
  }
}

const requestLine = ({ endpoint }: SinkConfig) =>
  printable(`POST ${batchUrl(endpoint)?.href}, content-type: application/json, content-encoding: gzip`);

/** Keys are shown by their start: output is pasted into reports. */
const shortKey = (key: string) => (key.length > 8 ? `${key.slice(0, 8)}...` : key);

const sampleTurn = {
  turn: 's1.t1',
  agent: 's1.a1',
  status: 'completed',
  code: undefined,
  queuedMs: 0.1,
  durationMs: 4.2,
  nodes: [
    { node: 'find', type: 'retrieve', duration_ms: 3.1 },
    { node: 'answer', type: 'quote', duration_ms: 0.9 },
  ],
  engine: () => [],
  skipped: 0,
  hits: 8,
  citations: 1,
  components: [],
  message: 'Who lights the lamp?',
  reply: 'The keeper lights the lamp at dusk.',
} as const;
