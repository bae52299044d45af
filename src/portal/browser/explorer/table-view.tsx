import { useMemo, useState } from 'react';
import { headingOfPath, isNumericKind, sortRows } from '../../explore/cell-printer';
import type { CellKind, ResultCell, ResultTable } from '../../explore/result-tables';
import { t } from '../language/texts.js';

/** More rows make a page slow. The CSV file contains all of them. */
const MOST_ROWS = 1000;

export interface TableViewProps {
  readonly table: ResultTable;
  readonly printCell: (cell: ResultCell, kind: CellKind) => string;
}

interface Order {
  readonly column: number;
  readonly direction: 'ascending' | 'descending';
}

export function TableView({ table, printCell }: TableViewProps) {
  const [order, setOrder] = useState<Order>();
  const rows = useMemo(
    () => (order ? sortRows(table, order.column, order.direction) : table.rows),
    [table, order],
  );

  const columns = useMemo(() => layOut(table), [table]);

  /** Presses sort ascending, then descending, then restore the order of the answer. */
  function sortBy(column: number) {
    if (order?.column !== column) setOrder({ column, direction: 'ascending' });
    else if (order.direction === 'ascending') setOrder({ column, direction: 'descending' });
    else setOrder(undefined);
  }

  if (table.rows.length === 0) return <p className="hint">{t('No rows: nothing matches.')}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className="table-scroll" aria-label={t('Rows of {name}', { name: table.name })} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.columns.map(({ path, kind }, column) => (
              <th
                key={path}
                scope="col"
                aria-sort={order?.column === column ? order.direction : 'none'}
                className={isNumericKind(kind) ? 'numeric' : undefined}
              >
                <button type="button" className="sort" onClick={() => sortBy(column)} title={path}>
                  {headingOfPath(path)}
                  <span aria-hidden="true" className="sort-sign">
                    {signOf(order, column)}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
            <tr key={index}>
              {row.map((cell, column) => {
                const { path, kind, className } = columns[column] ?? UNKNOWN_COLUMN;
                return (
                  <td
                    key={path}
                    className={className}
                    title={kind === 'instant' && cell !== null ? String(cell) : undefined}
                  >
                    {printCell(cell, kind)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && (
        <p className="hint">
          {t('The first {most, number} of {count, number} rows. The CSV file has all of them.', {
            most: MOST_ROWS,
            count: rows.length,
          })}
        </p>
      )}
    </section>
  );
}

function signOf(order: Order | undefined, column: number): string {
  if (order?.column !== column) return '';
  return order.direction === 'ascending' ? ' ▲' : ' ▼';
}

/** A column with a longer text wraps its lines. */
const LONG_TEXT = 48;

const UNKNOWN_COLUMN = { path: '', kind: 'text', className: undefined } as const;

function layOut({ columns, rows }: ResultTable) {
  return columns.map(({ path, kind }, column) => {
    const isLong = kind === 'list' || kind === 'text';
    const className =
      isLong && rows.some((row) => String(row[column] ?? '').length > LONG_TEXT) ? 'long' : undefined;
    return { path, kind, className: isNumericKind(kind) ? 'numeric' : className };
  });
}
