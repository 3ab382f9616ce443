import type { ForgottenTexts } from '../../agents/forgotten-texts.js';
import type { TurnFacts } from '../../agents/turn-facts.js';
import type { Log } from '../../log/log.js';
import { isMistaken, type TelemetryConfig, whyDisabled, whySilent } from './consent.js';
import { type EventSource, newEventSource, turnEvent } from './events.js';
import { Sink } from './sink.js';

export interface TelemetryOptions {
  config: TelemetryConfig;
  environment: NodeJS.ProcessEnv;
  version: string;
  log: Log;
}

/** Sends events about turns to the configured sinks. Only created if one of them may send. */
export class Telemetry {
  readonly #source: EventSource;
  readonly #sinks: readonly Sink[];
  readonly #log: Log;

  private constructor(source: EventSource, sinks: readonly Sink[], log: Log) {
    this.#source = source;
    this.#sinks = sinks;
    this.#log = log;
  }

  /** Returns undefined, after saying why in the log, if nothing may be sent. No socket is opened before an event. */
  static open({ config, environment, version, log }: TelemetryOptions): Telemetry | undefined {
    const disabled = whyDisabled(config, environment);
    const silent = config.sinks.map(whySilent);
    for (const [index, sink] of config.sinks.entries()) {
      if (disabled === undefined && isMistaken(sink))
        log.warn(`telemetry.sinks[${index}]: ${silent[index]}; it sends nothing`);
    }
    const reason = disabled ?? (silent.includes(undefined) ? undefined : `no sink may send: ${silent[0]}`);
    if (reason !== undefined) {
      log.debug(`telemetry is off: ${reason}`);
      return undefined;
    }
    const source = newEventSource(version, config.include_user_content);
    const onProblem = (message: string) => log.warn(message);
    const sinks = config.sinks
      .filter((_, index) => silent[index] === undefined)
      .map((sink) => new Sink({ config: sink, source, onProblem }));
    log.info(
      { sinks: sinks.length, userContent: config.include_user_content },
      'telemetry is on; lorekeep telemetry show prints what is sent',
    );
    return new Telemetry(source, sinks, log);
  }

  turn(facts: TurnFacts): void {
    const event = turnEvent(this.#source, facts);
    for (const sink of this.#sinks) sink.add(event);
  }

  /** Drops events that quote one of these texts and were not sent yet. */
  async forgotten(texts: ForgottenTexts): Promise<void> {
    for (const sink of this.#sinks) await sink.drop((event) => texts.quotedByJsonOf(event));
  }

  /** Flushes every sink within its `shutdown_flush_ms`. */
  async close(): Promise<void> {
    await Promise.all(this.#sinks.map((sink) => sink.close()));
    const lost = this.#sinks.map(({ dropped }) => dropped);
    if (lost.some((dropped) => Object.values(dropped).some((count) => count > 0)))
      this.#log.warn({ dropped: lost }, 'telemetry events were dropped');
  }
}
