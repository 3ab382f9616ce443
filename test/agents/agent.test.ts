import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Agent, type AgentResources } from '../../src/agents/agent.js';
import { Flow } from '../../src/agents/flow.js';
import type { GraphPlan } from '../../src/agents/graph.js';
import type { NodePlan } from '../../src/agents/node.js';
import { silentLog } from '../../src/log/log.js';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

const options = {
  enableDiagnostics: false,
  includeInteraction: false,
  includeEngine: false,
  largestInteraction: 1e6,
};
const memory = { add: () => {}, release: () => {} };
const flow = new Flow({ order: [], edges: [], targets: new Set() });
const resourcesOf = (signal: AbortSignal) =>
  ({ memory, historyMemory: memory, memories: new Map(), signal }) as unknown as AgentResources;

describe('an agent', () => {
  it('opens no further node once its session has ended, and closes the open ones', async () => {
    const session = new AbortController();
    const calls: string[] = [];
    const plan = (id: string): NodePlan => ({
      id,
      type: 'test',
      open: async () => {
        calls.push(`open ${id}`);
        session.abort(new Error('the session has ended'));
        return { id, type: 'test', run: async () => ({}), close: async () => void calls.push(`close ${id}`) };
      },
    });
    const opened = Agent.open(
      'a',
      { nodes: [plan('one'), plan('two')], flow },
      resourcesOf(session.signal),
      options,
      silentLog(),
    );
    await expect(opened).rejects.toThrow('the session has ended');
    expect(calls).toEqual(['open one', 'close one']);
  });

  it('keeps nothing of the turns that have ended, however many there were', async () => {
    const plan: GraphPlan = { nodes: [], flow };
    const { signal } = new AbortController();
    const agent = await Agent.open('a', plan, resourcesOf(signal), options, silentLog());
    let completed = 0;
    const outlet = {
      send: () => completed++,
      maySend: () => Promise.resolve({ reserve: () => Promise.resolve(), end() {} }),
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
