import type { Key, ReactElement, ReactNode } from 'react';

export interface Column<T> {
  head: string;
  cell: (row: T) => ReactNode;
  /** Numbers are aligned at their end. */
  end?: boolean;
  /** Takes the width that the other columns leave. */
  wide?: boolean;
}

interface Props<T> {
  label: string;
  columns: (Column<T> | null | false)[];
  rows: T[];
  keyOf: (row: T) => Key;
  /** The previous page stays while the next one loads. */
  busy?: boolean;
  /** The cells are short numbers, except the first. On a phone three of them are in one line of the card. */
  numeric?: boolean;
}

/**
 * A table that becomes a list of cards on a phone. The roles are explicit, because other layouts
 * than that of a table remove them.
 */
export function Table<T>({ label, columns, rows, keyOf, busy = false, numeric = false }: Props<T>): ReactElement {
  const shown = columns.filter((column) => !!column);
  return (
    // biome-ignore lint/a11y/useSemanticElements: the box scrolls with the keyboard and needs a name
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, which has to work with the keyboard
    <div className={numeric ? 'table-box numeric' : 'table-box'} role="region" aria-label={label} tabIndex={0} aria-busy={busy}>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <table role="table" aria-label={label}>
        {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
        <thead role="rowgroup">
          {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
          <tr role="row">
            {shown.map(({ head, end, wide }) => (
              <th
                key={head}
                // biome-ignore lint/a11y/noRedundantRoles: see above
                role="columnheader"
                scope="col"
                className={className(end, wide)}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
        <tbody role="rowgroup">
          {rows.map((row) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above
            <tr key={keyOf(row)} role="row">
              {shown.map(({ head, cell, end, wide }) => (
                // biome-ignore lint/a11y/noRedundantRoles: see above
                <td key={head} role="cell" data-head={head} className={className(end, wide)}>
                  <div className="cell">{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const className = (end?: boolean, wide?: boolean): string | undefined =>
  [end && 'end', wide && 'wide-column'].filter(Boolean).join(' ') || undefined;
