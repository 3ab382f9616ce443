import { describe, expect, it } from 'vitest';
import { OutputGate } from '../../src/fairness/output-gate.js';

const never = new AbortController().signal;

/** Enters and notes when it was let in. */
function enter(gate: OutputGate, name: string, admitted: string[], signal = never): Promise<() => void> {
  const entering = gate.enter(signal);
  entering.then(
    () => admitted.push(name),
    () => {},
  );
  return entering;
}

const settled = () => new Promise(setImmediate);

describe('the output gate', () => {
  it('lets so many in at once, and the others in order as places become free', async () => {
    const gate = new OutputGate(2, () => false);
    const admitted: string[] = [];
    const leaves = ['a', 'b', 'c', 'd'].map((name) => enter(gate, name, admitted));
    await settled();
    expect(admitted).toEqual(['a', 'b']);
    const leave = (await leaves[0]) as () => void;
    leave();
    leave();
    await settled();
    expect(admitted).toEqual(['a', 'b', 'c']);
  });

  it('lets nobody in while the client does not read', async () => {
    let blocked = true;
    const gate = new OutputGate(8, () => blocked);
    const admitted: string[] = [];
    for (const name of ['a', 'b']) enter(gate, name, admitted);
    await settled();
    expect(admitted).toEqual([]);
    blocked = false;
    gate.admit();
    await settled();
    expect(admitted).toEqual(['a', 'b']);
  });

  it('forgets who gave up waiting', async () => {
    const gate = new OutputGate(1, () => false);
    const admitted: string[] = [];
    const leave = await enter(gate, 'a', admitted);
    const controller = new AbortController();
    const waiting = enter(gate, 'b', admitted, controller.signal);
    enter(gate, 'c', admitted);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(gate.enter(AbortSignal.abort(reason))).rejects.toBe(reason);
    leave();
    await settled();
    expect(admitted).toEqual(['a', 'c']);
  });
});
