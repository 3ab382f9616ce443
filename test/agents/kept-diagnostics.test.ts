import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Flow } from '../../src/agents/flow.js';
import { AgentHistory } from '../../src/agents/history.js';
import type { Interaction } from '../../src/agents/interaction.js';
import { engineDiagnostics as generationDiagnostics } from '../../src/agents/nodes/generate/engine-diagnostics.js';
import { engineDiagnostics as retrievalDiagnostics } from '../../src/agents/nodes/retrieve/engine-diagnostics.js';
import { Turn } from '../../src/agents/turn.js';
import type { TurnFacts } from '../../src/agents/turn-facts.js';
import { silentLog } from '../../src/log/log.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

async function isCollected(ref: WeakRef<object>): Promise<boolean> {
  for (let n = 0; n < 10 && ref.deref() !== undefined; n++) {
    await setImmediate(); // a WeakRef holds its object until the current job ends
    collect();
  }
  return ref.deref() === undefined;
}

it('kept diagnostics of a retrieval hold no hits', async () => {
  const times = { filter: 1, dense: 1, lexical: 1, fusion: 1 };
  const facts = { fingerprint: 'f', dimension: 2, contextSize: 3 };
  const model = { name: 'm', model: { facts } };
  let outcome: object | undefined = { plan: { mode: 'hybrid' }, times, embedMs: 1, searchMs: 2, hits: [{}] };
  const ref = new WeakRef(outcome);
  const engine = retrievalDiagnostics(model as never, outcome as never);
  outcome = undefined;
  expect(await isCollected(ref)).toBe(true);
  expect(engine(4)).toMatchObject({ kind: 'retrieval', model: 'm', fingerprint: 'f', other_ms: 1 });
});

it('kept diagnostics of a generation hold no reply', async () => {
  const timing = {
    queuedMs: 1,
    prefillMs: 1,
    prefillChunks: 1,
    decodeMs: 1,
    longestGapMs: 1,
    pausedMs: 0,
    constraintWaits: 0,
    constraintMs: 0,
  };
  const numbers = { usage: {}, drafts: {}, timing, finish: 'stop', seed: 1 };
  let result: object | undefined = { ...numbers, text: 'a reply' };
  const ref = new WeakRef(result);
  const pin = { name: 'm', contextSize: 1 };
  const engine = generationDiagnostics(pin, { fingerprint: 'f' } as never, 'background', result as never, {
    prepareMs: 1,
    dropped: {} as never,
  });
  result = undefined;
  expect(await isCollected(ref)).toBe(true);
  expect(engine(6)).toMatchObject({ kind: 'generation', model: 'm', other_ms: 2 });
});

it('kept diagnostics of a turn hold neither its texts nor its results', async () => {
  let interaction: WeakRef<Interaction> | undefined;
  let kept: Pick<TurnFacts, 'nodes' | 'engine'> | undefined;
  const holding = { add() {}, settle() {}, release() {} };
  const node = {
    id: 'a',
    type: 'test',
    async run(given: Interaction) {
      interaction = new WeakRef(given);
      return { report: { found: 1 }, engine: (duration: number) => ({ kind: 'test', more: duration >= 0 }) };
    },
    close: async () => {},
  };
  async function runTurn(): Promise<void> {
    const options = {
      ...{
        text: 'a question',
        variables: {},
        history: new AgentHistory(0, holding),
        largestInteraction: 1000,
      },
      agent: 's1.a1',
      ...{ enableDiagnostics: false, includeInteraction: false, includeEngine: false },
      observe: ({ nodes, engine }: TurnFacts) => {
        kept = { nodes, engine };
      },
    };
    const sending = { reserve: async () => {}, end() {} };
    const outlet = { send() {}, maySend: async () => sending };
    const flow = new Flow({ order: ['a'], edges: [], targets: new Set() });
    const { status } = await new Turn('t', options, outlet, silentLog()).run(outlet.maySend(), [node], flow);
    expect(status).toBe('completed');
  }
  await runTurn();
  expect(await isCollected(interaction as WeakRef<Interaction>)).toBe(true);
  expect(kept?.nodes).toMatchObject([{ node: 'a', found: 1 }]);
  expect(kept?.engine()).toEqual([
    { node: 'a', type: 'test', diagnostics: { engine: { kind: 'test', more: true } } },
  ]);
});
