/** A graph as its turns walk it; node ids stand for nodes. */
export interface FlowShape {
  /** All nodes, in the order in which they run. */
  order: readonly string[];
  edges: readonly (readonly [from: string, to: string])[];
  /** Nodes that run only when another node leads to them (`on_match`). */
  targets: ReadonlySet<string>;
}

/**
 * Which nodes of a graph run in one turn. A target runs only after a jump to it, and what lies behind it alone only
 * then. After a jump, the target runs and what its edges lead to, and nothing else.
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

  /** The nodes of one turn. */
  walk(): Walk {
    return new Walk(this);
  }

  get order(): readonly string[] {
    return this.#shape.order;
  }

  isTarget(id: string): boolean {
    return this.#shape.targets.has(id);
  }

  /** Nodes whose edges lead to this one. */
  sources(id: string): readonly string[] {
    return this.#sources.get(id) ?? [];
  }

  /** A node and all that can be reached from it by edges. */
  reach(id: string): ReadonlySet<string> {
    const reached = new Set([id]);
    for (const from of reached) for (const to of this.#successors.get(from) ?? []) reached.add(to);
    return reached;
  }
}

/** One turn's way through the graph: ask for each node, in order, whether it is due, and say when it has run. */
export class Walk {
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

  /** `jump`: the target that the turn goes on with. */
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
