import { age } from './format.js';
import { type Part, type Prefix, prefixTree } from './prefixes.js';

/** Branches of one part that are shown. */
const mostShown = 20;

/** The prefixes that prompts share, as an indented list. They have no text: prompts are users' content. */
export function PrefixTree({ name, parts }: { name: string; parts: readonly Part[] }) {
  const roots = prefixTree(parts);
  const most = Math.max(1, ...parts.map(({ tokens }) => tokens));
  return (
    <div class="prefixes">
      <h3>Prefixes in the cache of {name}</h3>
      {roots.length === 0 ? (
        <p class="dim">The cache is empty.</p>
      ) : (
        <Branches prefixes={roots} most={most} label={`Prefixes of ${name}`} />
      )}
    </div>
  );
}

interface BranchesProps {
  prefixes: readonly Prefix[];
  /** Tokens of the longest part. */
  most: number;
  label?: string;
}

function Branches({ prefixes, most, label }: BranchesProps) {
  const left = prefixes.length - mostShown;
  return (
    // A conversation is one long branch: it is not indented.
    <ul aria-label={label} class={prefixes.length === 1 ? 'chain' : undefined}>
      {prefixes.slice(0, mostShown).map((prefix, index) => (
        <li key={`${index}`}>
          <Line prefix={prefix} most={most} />
          {prefix.children.length > 0 && <Branches prefixes={prefix.children} most={most} />}
        </li>
      ))}
      {left > 0 && (
        <li class="dim">
          {left} more: {prefixes.slice(mostShown).reduce((sum, { tokens }) => sum + tokens, 0)} tokens
        </li>
      )}
    </ul>
  );
}

function Line({ prefix, most }: { prefix: Prefix; most: number }) {
  const { running, kept, pinned, idleMs } = prefix.all;
  const facts = [
    `${prefix.tokens} tokens`,
    running > 0 ? `${running} running` : '',
    kept > 0 ? `${kept} kept` : '',
    pinned > 0 ? `${pinned} pinned` : '',
    running > 0 ? '' : `idle for ${age(idleMs)}`,
  ];
  return (
    <>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect
          width={Math.max(1, (100 * prefix.tokens) / most)}
          height="8"
          class={running > 0 ? 'n2' : 'queue'}
        />
      </svg>
      <span>{facts.filter((fact) => fact !== '').join(', ')}</span>
    </>
  );
}
