export function rightRequests(session_id: string, agent_id: string): string[];
export function hostilePayload(requests: readonly string[], next: () => number): Buffer;
export function framed(payload: Buffer): Buffer;
