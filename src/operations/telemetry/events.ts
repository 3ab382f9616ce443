import { randomUUID } from 'node:crypto';
import { textPrefix } from '../../agents/text-prefix.js';
import type { TurnFacts } from '../../agents/turn-facts.js';

/** An event as the ingest server takes it. */
export interface TelemetryEvent {
  readonly event: string;
  readonly distinct_id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly uuid: string;
}

/** Longest text of a message or reply in an event, in UTF-16 code units. */
export const longestText = 8192;

export interface EventSource {
  /** Chosen by each process, so that events of two runs cannot be linked. */
  readonly distinctId: string;
  readonly version: string;
  readonly includeUserContent: boolean;
}

export function newEventSource(version: string, includeUserContent: boolean): EventSource {
  return { distinctId: randomUUID(), version, includeUserContent };
}

/** The event of a completed, failed or cancelled turn. Texts only with `includeUserContent`. */
export function turnEvent(source: EventSource, facts: TurnFacts): TelemetryEvent {
  const { status, code, queuedMs, durationMs, nodes, skipped, hits, citations, message, reply } = facts;
  return event(source, 'turn', {
    status,
    error_code: code ?? null,
    queued_ms: queuedMs,
    duration_ms: durationMs,
    nodes: nodes.map(({ type }) => type),
    skipped_nodes: skipped,
    hits,
    citations,
    message_length: message.length,
    reply_length: reply.length,
    ...(source.includeUserContent && {
      human_message: textPrefix(message, longestText),
      character_reply: textPrefix(reply, longestText),
      texts_shortened: message.length > longestText || reply.length > longestText,
    }),
  });
}

/** Tells how many events a sink has lost, by reason. */
export function droppedEvent(source: EventSource, dropped: Readonly<Record<string, number>>): TelemetryEvent {
  return event(source, 'events dropped', { ...dropped });
}

function event(
  { distinctId, version }: EventSource,
  name: string,
  facts: Readonly<Record<string, unknown>>,
): TelemetryEvent {
  return {
    event: name,
    distinct_id: distinctId,
    properties: {
      ...facts,
      // No profile of a person, and no place derived from the address.
      $process_person_profile: false,
      $lib: 'lorekeep',
      $lib_version: version,
      $is_server: true,
      $geoip_disable: true,
    },
    timestamp: new Date().toISOString(),
    uuid: randomUUID(),
  };
}
