import { age } from '../parts/format.js';
import { type Part, type Prefix, prefixTree } from './prefixes.js';

/** Branches of one part that are shown. */
const mostShown = 20;

/** Deeper branches are not indented further. */
const deepest = 8;

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
  /** Columns by which the words are indented: the bars begin at one line. */
  indent?: number;
  label?: string;
}

function Branches({ prefixes, most, indent = 0, label }: BranchesProps) {
  const left = prefixes.length - mostShown;
  const inner = prefixes.length === 1 ? indent : Math.min(deepest, indent + 1);
  return (
    // A conversation is one long branch: it is not indented.
    <ul aria-label={label}>
      {prefixes.slice(0, mostShown).map((prefix, index) => (
        <li key={`${index}`}>
          <Line prefix={prefix} most={most} indent={inner} />
          {prefix.children.length > 0 && <Branches prefixes={prefix.children} most={most} indent={inner} />}
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

function Line({ prefix, most, indent }: { prefix: Prefix; most: number; indent: number }) {
  const { running, kept, pinned, idleMs } = prefix.all;
  const facts = [
    `${prefix.tokens} tokens`,
    running > 0 ? `${running} running` : '',
    kept > 0 ? `${kept} kept` : '',
    pinned > 0 ? `${pinned} pinned` : '',
    running > 0 ? '' : `idle for ${age(idleMs)}`,
  ];
  return (
    <div class="line">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect
          width={Math.max(1, (100 * prefix.tokens) / most)}
          height="8"
          class={running > 0 ? 'n2' : 'queue'}
        />
      </svg>
      <span style={{ paddingLeft: `${indent}rem` }}>{facts.filter((fact) => fact !== '').join(', ')}</span>
    </div>
  );
}
