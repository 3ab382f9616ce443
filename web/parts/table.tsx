import type { ComponentChildren } from 'preact';

interface TableProps {
  label: string;
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  /** Columns of numbers. */
  numbers?: readonly number[];
  empty: string;
  /** Meanings of titles that need one. */
  hints?: Readonly<Record<string, string>>;
}

export function Table({ label, head, rows, numbers = [], empty, hints = {} }: TableProps) {
  if (rows.length === 0) return <p class="dim">{empty}</p>;
  const kind = (column: number) => (numbers.includes(column) ? 'number' : undefined);
  const meant = head.filter((title) => hints[title] !== undefined);
  return (
    // Wider than a narrow screen: the keyboard must be able to scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class="scroll" aria-label={`${label}, scrollable`} tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            {head.map((title, column) => (
              <th key={title} scope="col" class={kind(column)}>
                {hints[title] === undefined ? title : <abbr title={hints[title]}>{title}</abbr>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={`${row}`}>
              {cells.map((cell, column) => (
                <td key={`${column}`} class={kind(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {meant.length > 0 && (
        <details class="hints">
          <summary class="dim">What these words mean</summary>
          <dl>
            {meant.map((title) => (
              <div key={title}>
                <dt>{title}</dt>
                <dd>{hints[title]}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </section>
  );
}
