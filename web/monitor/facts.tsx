import { type Fact, factsOf } from './words.js';

/** Facts as a list of names and values. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value], index) => (
        <div key={`${name} ${index}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** An object in words, and as JSON for those who want to copy it. */
export function ObjectFacts({ value, label }: { value: object; label: string }) {
  const facts = factsOf(value);
  if (facts.length === 0) return null;
  return (
    <>
      <Facts facts={facts} />
      <Json value={value} label={label} />
    </>
  );
}

export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <details>
      <summary class="dim">{label} as JSON</summary>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}
