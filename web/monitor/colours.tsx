import { colourOf } from './node-colours.js';

/** The meaning of the colours of some types of nodes. */
export function Legend({ types }: { types: readonly string[] }) {
  return (
    <p class="legend">
      <Key colour="queue" name="waiting" />
      {types.map((type) => (
        <Key key={type} colour={colourOf(type)} name={type} />
      ))}
    </p>
  );
}

export function Key({ colour, name }: { colour: string; name: string }) {
  return (
    <span class="key">
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <rect width="12" height="12" class={colour} />
      </svg>
      {name}
    </span>
  );
}
