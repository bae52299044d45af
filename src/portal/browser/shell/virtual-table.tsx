/**
 * A table of any number of rows: those in sight are drawn, and more are read as their end is reached. On a
 * phone, each row of a table that is only read is a card; elsewhere it leaves out what is worth least, so
 * that it fits.
 */
import { Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  Fragment,
  type ReactNode,
  type RefObject,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useTexts } from '../language/use-texts';
import type { GridKeys } from './use-grid-keys';

export interface VirtualColumn<Row> {
  readonly name: string;
  readonly head: ReactNode;
  /** In pixels; the table is wider where there is room, and a little narrower where there is none. */
  readonly width: number;
  readonly isNumeric?: boolean;
  /** Left out where the table is only read and does not fit otherwise; the last of them first. */
  readonly isExtra?: boolean;
  readonly order?: 'ascending' | 'descending' | 'none';
  cell(row: Row): ReactNode;
  /** What the cell says in full, where it is cut. */
  title?(row: Row): string;
  /** In a grid: nobody can change its cells here. */
  readonly isReadOnly?: boolean;
}

/** What makes a grid of a table: a cell has the focus, and can be opened to change what is in it. */
interface GridCells<Row> {
  readonly keys: GridKeys;
  /** `undefined` where rows are not chosen. */
  isSelected?: ((row: Row) => boolean) | undefined;
  /** Rows that count for nothing. */
  isVoid?(row: Row): boolean;
  onOpen(row: Row, column: number): void;
}

export interface VirtualTableProps<Row extends { readonly id: string }> {
  readonly label: string;
  readonly columns: readonly VirtualColumn<Row>[];
  readonly rows: readonly Row[];
  readonly more: { readonly isThere: boolean; readonly isLoading: boolean; readonly load: () => void };
  /** How many there are, once all are read. */
  readonly total: string;
  /** `undefined` of a table that is only read, row by row. */
  readonly grid?: GridCells<Row>;
}

/** To what part of its width a column shrinks before a table that is only read scrolls sideways. */
const LEAST_SHARE = 0.88;
const ROW_HEIGHT = 38;
/** Of a card, until it is measured: its padding, and each of its lines. */
const CARD_PADDING = 20;
const CARD_LINE_HEIGHT = 27;
/** Drawn above and below those in sight. */
const ROWS_BESIDE = 12;
/** The headers above a table, roughly. */
const ABOVE_PX = 320;
/** More are read when so few rows are left below. */
const ROWS_AHEAD = 50;

export function VirtualTable<Row extends { readonly id: string }>({
  label,
  columns: every,
  rows,
  more,
  total,
  grid,
}: VirtualTableProps<Row>) {
  const t = useTexts();
  const scroller = useRef<HTMLDivElement>(null);
  const keys = grid?.keys;
  const isNarrow = useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false });
  const areCards = isNarrow && !grid;
  const isFitted = !areCards && !grid;
  const room = useWidth(scroller, isFitted);
  const columns = isFitted ? thatFit(every, room) : every;
  const fullWidth = widthOf(columns);
  // First the rows in sight, then those that somebody may scroll to.
  const overscan = useDeferredValue(ROWS_BESIDE, 0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (areCards ? CARD_PADDING + columns.length * CARD_LINE_HEIGHT : ROW_HEIGHT),
    // Until it is measured: without a height no row would be drawn, and then all of them in one step.
    initialRect: { width: innerWidth, height: Math.max(innerHeight - ABOVE_PX, 0) },
    overscan,
    // The cell that has the focus stays, however far one scrolls: the focus would be lost with it.
    rangeExtractor: (range) => {
      const drawn = defaultRangeExtractor(range);
      const row = keys?.active.row ?? -1;
      return row < 0 || drawn.includes(row) ? drawn : [...drawn, row].sort((one, other) => one - other);
    },
  });
  const shown = virtual.getVirtualItems();
  const isNearEnd = (virtual.range?.endIndex ?? 0) >= rows.length - ROWS_AHEAD;
  const { isThere, isLoading, load } = more;
  useEffect(() => {
    if (isNearEnd && isThere && !isLoading) load();
  }, [isNearEnd, isThere, isLoading, load]);
  useLayoutEffect(() => keys?.settle());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heights are others when a phone is turned.
  useLayoutEffect(() => virtual.measure(), [areCards]);
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <>
      <section
        ref={scroller}
        className="grid-scroll"
        aria-label={label}
        // What scrolls has to be reached by the keyboard; a grid is, by its cells.
        tabIndex={grid ? undefined : 0}
      >
        <table
          ref={keys?.table}
          className={areCards ? 'card-table stacked-table' : 'grid-table'}
          aria-rowcount={isThere ? -1 : rows.length + 1}
          {...(isFitted && { style: { minWidth: fullWidth * LEAST_SHARE } })}
          {...(grid && {
            role: 'grid',
            'aria-label': label,
            'aria-multiselectable': grid.isSelected !== undefined,
            onKeyDown: grid.keys.onKeyDown,
            onFocus: grid.keys.onFocus,
          })}
        >
          {!areCards && (
            <colgroup>
              {columns.map(({ name, width }) => (
                <col key={name} style={{ width: isFitted ? `${(width / fullWidth) * 100}%` : width }} />
              ))}
            </colgroup>
          )}
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
            {shown.map(({ index, start }, place) => {
              const row = rows[index];
              if (!row) return null;
              return (
                <Fragment key={row.id}>
                  <Gap height={start - (shown[place - 1]?.end ?? 0)} />
                  <tr
                    aria-rowindex={index + 2}
                    aria-selected={grid?.isSelected?.(row)}
                    className={grid?.isVoid?.(row) ? 'void' : undefined}
                    {...(areCards && { 'data-index': index, ref: virtual.measureElement })}
                  >
                    {columns.map(({ name, head, isNumeric, isReadOnly, cell, title }, column) => (
                      <td
                        key={name}
                        className={isNumeric ? 'numeric' : undefined}
                        // The first one is the heading of its card.
                        data-label={areCards && column > 0 && typeof head === 'string' ? head : undefined}
                        title={areCards ? undefined : title?.(row)}
                        {...(grid && {
                          role: 'gridcell',
                          'aria-readonly': isReadOnly,
                          onDoubleClick: () => grid.onOpen(row, column),
                        })}
                      >
                        {cell(row)}
                      </td>
                    ))}
                  </tr>
                </Fragment>
              );
            })}
            <Gap height={after} />
          </tbody>
        </table>
      </section>
      <Text size="xs" c="dimmed" py={6} role="status">
        {isThere ? t('{count, number} loaded; scroll for more', { count: rows.length }) : total}
      </Text>
    </>
  );
}

/** The width of an element, from before it is first painted; the window's where nobody needs it. */
function useWidth(element: RefObject<HTMLElement | null>, isNeeded: boolean): number {
  const [width, setWidth] = useState(innerWidth);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current || !isNeeded) return undefined;
    const measure = () => setWidth(current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element, isNeeded]);
  return width;
}

function widthOf(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, 0);
}

/** All columns, or those that are left once enough extra ones are left out, from the last. */
function thatFit<Row>(columns: readonly VirtualColumn<Row>[], room: number): readonly VirtualColumn<Row>[] {
  const last = columns.findLastIndex(({ isExtra }) => isExtra);
  if (last < 0 || widthOf(columns) * LEAST_SHARE <= room) return columns;
  return thatFit(columns.toSpliced(last, 1), room);
}

/** In the place of the rows that are out of sight. */
function Gap({ height }: { readonly height: number }) {
  return height > 0 ? <tr style={{ height }} /> : null;
}
