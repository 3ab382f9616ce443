/** Colours of the page by type of node: a type has the same one in every turn. */
const classes: Readonly<Record<string, string>> = {
  retrieve: 'n0',
  generate: 'n1',
  quote: 'n2',
  rerank: 'n3',
  remember: 'n4',
  regex_guardrail: 'n5',
  canned_response: 'n6',
};

/** Returns the class of a type's colour. */
export const colourOf = (type: string): string => classes[type] ?? 'n7';
