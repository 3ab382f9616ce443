import { randomInt } from 'node:crypto';
import { linesBytes } from '../../../fairness/estimates.js';
import type { Interaction } from '../../interaction.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import { Dice, seeds } from './dice.js';
import { schema } from './schema.js';

/** Replies with a line of a text file, chosen at random or by seed. */
export const node: NodeType = {
  plan(id, params, where): NodePlan {
    const { string_storage, seed } = parseParams(schema.params, params, where);
    return {
      id,
      type: schema.type,
      open: async ({ lists, root, memory }) => {
        const path = `${where}.params.string_storage`;
        const responses = await lists.responses(string_storage, path, root);
        if (string_storage !== undefined)
          memory.add(linesBytes(responses), `${path}: the agent was not created`);
        return new CannedResponseNode(id, responses, new Dice(seed ?? randomInt(seeds)));
      },
    };
  },
};

class CannedResponseNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #responses: readonly string[];
  readonly #dice: Dice;

  constructor(id: string, responses: readonly string[], dice: Dice) {
    this.id = id;
    this.#responses = responses;
    this.#dice = dice;
  }

  async run(interaction: Interaction): Promise<NodeOutcome> {
    interaction.reply(this.id, this.#responses[this.#dice.below(this.#responses.length)] as string);
    return {};
  }

  async close(): Promise<void> {}
}
