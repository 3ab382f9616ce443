import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Agent, type AgentResources } from '../../src/agents/agent.js';
import { Flow } from '../../src/agents/flow.js';
import type { GraphPlan } from '../../src/agents/graph.js';
import { silentLog } from '../../src/log/log.js';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('an agent', () => {
  it('keeps nothing of the turns that have ended, however many there were', async () => {
    const plan: GraphPlan = { nodes: [], flow: new Flow({ order: [], edges: [], targets: new Set() }) };
    const options = {
      enableDiagnostics: false,
      includeInteraction: false,
      includeEngine: false,
      largestInteraction: 1e6,
    };
    const memory = { add: () => {}, release: () => {} };
    const agent = await Agent.open(
      'a',
      plan,
      { memory, historyMemory: memory } as unknown as AgentResources,
      options,
      silentLog(),
    );
    let completed = 0;
    const outlet = {
      send: () => completed++,
      waitForOutput: () => Promise.resolve(() => {}),
      reserve: () => Promise.resolve(() => {}),
    };
    const take = async (turns: number) => {
      for (let i = 0; i < turns; i++) await agent.start(`t${i}`, { text: 'hello', variables: {} }, outlet);
    };
    const heldBytes = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    await take(2_000);
    const before = heldBytes();
    const turns = 20_000;
    await take(turns);
    // A turn that left a promise's result behind would hold over 150 bytes.
    expect((heldBytes() - before) / turns).toBeLessThan(50);
    expect(completed).toBe(2_000 + turns);
    await agent.close();
  });
});
