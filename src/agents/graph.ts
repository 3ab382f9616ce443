import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { nextSlice } from '../base/waiting/next-slice.js';
import { fail } from '../protocol/errors.js';
import type { Graph } from '../protocol/graph.js';
import { Flow } from './flow.js';
import type { NodePlan, NodeType } from './node.js';

/** A checked graph: its nodes in execution order, and the flow of a turn through them. */
export interface GraphPlan {
  readonly nodes: readonly NodePlan[];
  readonly flow: Flow;
}

/** Node types by name. */
export type NodeTypes = ReadonlyMap<string, NodeType>;

/** Characters of templates that a graph may have and be planned without a pause: a few milliseconds. */
const templatesAtOnce = 32_768;

/** Characters of templates parsed between two pauses: about a millisecond. */
const templatesPerStep = 8192;

/** Returns whether checking the graph takes long enough to need pauses for the event loop. */
export function isLargeGraph({ nodes }: Graph, types: NodeTypes): boolean {
  return nodes.reduce((sum, node) => sum + templateLength(node, types), 0) > templatesAtOnce;
}

/**
 * Checks the types, params and edges of a graph. Execution order follows edges and branches (`on_match`), then the written
 * order.
 * @throws UnknownNodeType, UnknownParam, InvalidParam, DuplicateNodeId, DanglingEdge, GraphCycle with the path
 */
export function planGraph(graph: Graph, types: NodeTypes): GraphPlan {
  const steps = planInSteps(graph, types);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Like planGraph(), with pauses for the event loop. @throws as planGraph(); the signal's reason */
export async function planLargeGraph(
  graph: Graph,
  types: NodeTypes,
  signal: AbortSignal,
): Promise<GraphPlan> {
  const steps = planInSteps(graph, types);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextSlice();
    signal.throwIfAborted();
  }
}

/** Yields at each point where a pause is due. */
function* planInSteps(graph: Graph, types: NodeTypes): Generator<void, GraphPlan> {
  const positions = new Map<string, number>();
  graph.nodes.forEach(({ id }, index) => {
    const first = positions.get(id);
    if (first !== undefined) {
      const path = `graph.nodes[${index}].id`;
      fail(4004, `${path}: ${JSON.stringify(id)} is the id of graph.nodes[${first}] already`, {
        path,
        first,
      });
    }
    positions.set(id, index);
  });
  const plans: NodePlan[] = [];
  let parsed = 0;
  for (const node of graph.nodes) {
    parsed += templateLength(node, types);
    if (parsed > templatesPerStep) {
      parsed = 0;
      yield;
    }
    const where = `graph.nodes[${plans.length}]`;
    plans.push(
      (types.get(node.type) ?? refuseType(node.type, where, types)).plan(node.id, node.params, where),
    );
  }
  checkNeeds(plans);
  const order = executionOrder(graph, successors(graph, plans, positions));
  const nodes = order.map((position) => plans[position] as NodePlan);
  const targets = new Set(plans.flatMap(({ branch }) => branch?.target ?? []));
  const flow = new Flow({ order: nodes.map(({ id }) => id), edges: graph.edges, targets });
  return { nodes, flow };
}

/** @throws InvalidParam for a node that another one needs and the graph does not have */
function checkNeeds(plans: readonly NodePlan[]): void {
  for (const { needs } of plans) {
    if (needs === undefined) continue;
    const { id: wanted, type, path } = needs;
    const found = plans.filter((plan) => plan.type === type).map(({ id }) => id);
    if (found.includes(wanted)) continue;
    const nearest = nearestName(wanted, found);
    const problem = `the graph has no ${type} node ${JSON.stringify(wanted)}${didYouMean(nearest)}`;
    fail(4003, `${path}: ${problem}`, { path, nearest });
  }
}

function templateLength({ type, params }: Graph['nodes'][number], types: NodeTypes): number {
  return types.get(type)?.templateLength?.(params) ?? 0;
}

/** Returns, for each node, the positions of its successors by edges and branch. */
function successors(
  { nodes, edges }: Graph,
  plans: readonly NodePlan[],
  positions: ReadonlyMap<string, number>,
): number[][] {
  const next: number[][] = nodes.map(() => []);
  edges.forEach((edge, index) => {
    const [from, to] = edge.map((id, end) => {
      const path = `graph.edges[${index}][${end}]`;
      return positions.get(id) ?? refuseEdge(id, path, positions.keys());
    }) as [number, number];
    next[from]?.push(to);
  });
  plans.forEach(({ branch }, from) => {
    if (branch === undefined) return;
    const { target, path } = branch;
    next[from]?.push(positions.get(target) ?? refuseEdge(target, path, positions.keys()));
  });
  return next;
}

/** Sorts topologically (Kahn's algorithm); among ready nodes, the first written comes first. */
function executionOrder({ nodes }: Graph, next: readonly number[][]): number[] {
  const waitingFor = nodes.map(() => 0);
  for (const to of next.flat()) waitingFor[to] = (waitingFor[to] ?? 0) + 1;
  const order: number[] = [];
  const done = new Set<number>();
  while (order.length < nodes.length) {
    const ready = nodes.findIndex((_, position) => waitingFor[position] === 0 && !done.has(position));
    if (ready < 0) refuseCycle(nodes, next, done);
    done.add(ready);
    order.push(ready);
    for (const to of next[ready] ?? []) waitingFor[to] = (waitingFor[to] ?? 0) - 1;
  }
  return order;
}

/** Reports a cycle: each remaining node is on a cycle or after one, so walking backwards must meet a node twice. */
function refuseCycle(nodes: Graph['nodes'], next: readonly number[][], done: ReadonlySet<number>): never {
  const walk: number[] = [];
  let at = nodes.findIndex((_, position) => !done.has(position));
  while (!walk.includes(at)) {
    walk.push(at);
    at = next.findIndex((targets, position) => !done.has(position) && targets.includes(at));
  }
  const cycle = [...walk.slice(walk.indexOf(at)), at].reverse().map((position) => nodes[position]?.id ?? '');
  fail(4006, `graph.edges: edges and on_match form a cycle: ${cycle.join(' -> ')}`, {
    path: 'graph.edges',
    cycle,
  });
}

function refuseType(type: string, where: string, types: NodeTypes): never {
  const known = [...types.keys()];
  const nearest = nearestName(type, known);
  const path = `${where}.type`;
  fail(4001, `${path}: ${JSON.stringify(type)} is not a node type${didYouMean(nearest)}`, {
    path,
    known,
    nearest,
  });
}

function refuseEdge(id: string, path: string, known: Iterable<string>): never {
  const nearest = nearestName(id, known);
  fail(4005, `${path}: the graph has no node ${JSON.stringify(id)}${didYouMean(nearest)}`, { path, nearest });
}
