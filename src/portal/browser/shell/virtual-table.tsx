/** A table of any number of rows: those in sight are drawn, and more are read as their end is reached. */
import { Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTexts } from '../language/use-texts';

export interface VirtualColumn<Row> {
  readonly name: string;
  readonly head: ReactNode;
  /** In pixels; the table is wider where there is room. */
  readonly width: number;
  readonly isNumeric?: boolean;
  readonly order?: 'ascending' | 'descending' | 'none';
  cell(row: Row): ReactNode;
  /** What the cell says in full, where it is cut. */
  title?(row: Row): string;
}

export interface VirtualTableProps<Row extends { readonly id: string }> {
  readonly label: string;
  readonly columns: readonly VirtualColumn<Row>[];
  readonly rows: readonly Row[];
  readonly more: { readonly isThere: boolean; readonly isLoading: boolean; readonly load: () => void };
  /** How many there are, once all are read. */
  readonly total: string;
}

const ROW_HEIGHT = 38;
/** More are read when so few rows are left below. */
const ROWS_AHEAD = 50;

export function VirtualTable<Row extends { readonly id: string }>({
  label,
  columns,
  rows,
  more,
  total,
}: VirtualTableProps<Row>) {
  const t = useTexts();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= rows.length - ROWS_AHEAD;
  const { isThere, isLoading, load } = more;
  useEffect(() => {
    if (isNearEnd && isThere && !isLoading) load();
  }, [isNearEnd, isThere, isLoading, load]);
  const before = shown[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard. */}
      <section ref={scroller} className="grid-scroll" aria-label={label} tabIndex={0}>
        <table className="grid-table" aria-rowcount={isThere ? -1 : rows.length + 1}>
          <colgroup>
            {columns.map(({ name, width }) => (
              <col key={name} style={{ width }} />
            ))}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {columns.map(({ name, head, order, isNumeric }) => (
                <th key={name} scope="col" aria-sort={order} className={isNumeric ? 'numeric' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap height={before} />
            {shown.map(({ index }) => {
              const row = rows[index];
              if (!row) return null;
              return (
                <tr key={row.id} aria-rowindex={index + 2}>
                  {columns.map(({ name, isNumeric, cell, title }) => (
                    <td key={name} className={isNumeric ? 'numeric' : undefined} title={title?.(row)}>
                      {cell(row)}
                    </td>
                  ))}
                </tr>
              );
            })}
            <Gap height={after} />
          </tbody>
        </table>
      </section>
      <Text size="xs" c="dimmed" py={6} role="status">
        {isThere ? t('{count, number} read so far; more as you scroll', { count: rows.length }) : total}
      </Text>
    </>
  );
}

/** In the place of the rows that are out of sight. */
function Gap({ height }: { readonly height: number }) {
  return height > 0 ? <tr style={{ height }} /> : null;
}
