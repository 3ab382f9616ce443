import type { Component } from '../protocol/components.js';

/** What one turn is about: the user's message, the turn's variables, and all that its nodes have added. */
export class Interaction {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly components: Component[];

  constructor(text: string, variables: Readonly<Record<string, unknown>>) {
    this.text = text;
    this.variables = variables;
    this.components = [{ _type: 'human_message', text }];
  }

  append(components: readonly Component[]): void {
    for (const component of components) this.components.push(component);
  }
}
