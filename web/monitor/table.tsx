import type { ComponentChildren } from 'preact';

interface TableProps {
  label: string;
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  /** Columns of numbers. */
  numbers?: readonly number[];
  empty: string;
}

export function Table({ label, head, rows, numbers = [], empty }: TableProps) {
  if (rows.length === 0) return <p class="dim">{empty}</p>;
  const kind = (column: number) => (numbers.includes(column) ? 'number' : undefined);
  return (
    // Wider than a narrow screen: the keyboard must be able to scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class="scroll" aria-label={`${label}, scrollable`} tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            {head.map((title, column) => (
              <th key={title} scope="col" class={kind(column)}>
                {title}
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
    </section>
  );
}
