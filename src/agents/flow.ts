/** A graph by node ids, as turns walk it. */
export interface FlowShape {
  /** All nodes in execution order. */
  order: readonly string[];
  edges: readonly (readonly [from: string, to: string])[];
  /** Nodes that run only after a jump to them (`on_match`). */
  targets: ReadonlySet<string>;
}

/**
 * Decides which nodes of a graph run in a turn. A jump target, and nodes reachable only through it, run only after a jump
 * to it. After a jump, only the target and the nodes reachable from it run.
 */
export class Flow {
  readonly #shape: FlowShape;
  readonly #sources = new Map<string, string[]>();
  readonly #successors = new Map<string, string[]>();

  constructor(shape: FlowShape) {
    this.#shape = shape;
    for (const [from, to] of shape.edges) {
      append(this.#successors, from, to);
      append(this.#sources, to, from);
    }
  }

  /** Starts the walk of one turn. */
  walk(): Walk {
    return new Walk(this);
  }

  get order(): readonly string[] {
    return this.#shape.order;
  }

  isTarget(id: string): boolean {
    return this.#shape.targets.has(id);
  }

  /** Returns the nodes with an edge to this one. */
  sources(id: string): readonly string[] {
    return this.#sources.get(id) ?? [];
  }

  /** Returns a node and all nodes reachable from it by edges. */
  reach(id: string): ReadonlySet<string> {
    const reached = new Set([id]);
    for (const from of reached) for (const to of this.#successors.get(from) ?? []) reached.add(to);
    return reached;
  }
}

/** One turn's walk through the graph. Ask for each node in order whether it is due, and report when it has run. */
class Walk {
  readonly #flow: Flow;
  readonly #ran = new Set<string>();
  #jump: { target: string; reach: ReadonlySet<string> } | undefined;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  isDue(id: string): boolean {
    if (this.#jump?.target === id) return true;
    if (this.#flow.isTarget(id) || this.#jump?.reach.has(id) === false) return false;
    const sources = this.#flow.sources(id);
    return sources.length === 0 || sources.some((source) => this.#ran.has(source));
  }

  /** `jump`: the target that the turn continues with. */
  hasRun(id: string, jump?: string): void {
    this.#ran.add(id);
    if (jump !== undefined) this.#jump = { target: jump, reach: this.#flow.reach(jump) };
  }
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
