import type { AgentOptions } from '../agents/turn.js';
import type { Services } from './services.js';

/** The options of the agents of a client. */
export function agentOptions(
  { config, observer }: Services,
  client: string,
  enableDiagnostics: boolean,
): AgentOptions {
  const { include_interaction_in_diagnostics, include_engine_diagnostics, max_frame_mb } = config;
  return {
    enableDiagnostics,
    includeInteraction: include_interaction_in_diagnostics,
    includeEngine: include_engine_diagnostics,
    // A longer interaction could not be sent.
    largestInteraction: max_frame_mb * 1024 * 1024,
    observe: observer?.turn,
    client,
  };
}
