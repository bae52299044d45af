/**
 * A table of any number of rows: only visible rows are drawn, and more are read at the end. A read-only table
 * shows each row as a card on a phone; elsewhere it leaves out the least important columns, so that it fits.
 */
import { Box, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  type FocusEvent,
  Fragment,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { t } from '../language/texts';

export interface VirtualColumn<Row> {
  readonly name: string;
  readonly head: ReactNode;
  /** In pixels. The table is wider if there is room, and a little narrower if there is not. */
  readonly width: number;
  readonly isNumeric?: boolean;
  /** Left out if a read-only table does not fit, the last of these columns first. */
  readonly isExtra?: boolean;
  readonly order?: 'ascending' | 'descending' | 'none';
  cell(row: Row): ReactNode;
  /** The whole text of a cell that is cut. */
  title?(row: Row): string;
  /** In a grid: its cells cannot be changed. */
  readonly isReadOnly?: boolean;
}

/** The kind of a text column: of numbers, or left out without room. */
type ColumnKind = 'numeric' | 'extra' | 'numeric extra';

/** A column of texts. A title shows the whole text of a cell that is cut. */
export function textColumn<Row>(
  ...[name, head, width, text, kind]: [string, string, number, (row: Row) => string, kind?: ColumnKind]
): VirtualColumn<Row> {
  const is = (word: 'numeric' | 'extra') => kind?.includes(word) === true;
  return { name, head, width, cell: text, title: text, isNumeric: is('numeric'), isExtra: is('extra') };
}

/** Makes a table a grid: a cell has the focus, and can be opened to change its content. */
interface GridCells<Row> {
  readonly keys: GridKeys;
  /** `undefined` if rows cannot be selected. */
  isSelected?: ((row: Row) => boolean) | undefined;
  /** Whether a row is void. */
  isVoid?(row: Row): boolean;
  onOpen(row: Row, column: number): void;
}

/** Whether a list has a next page, and how to read it. */
export interface MoreRows {
  readonly isThere: boolean;
  readonly isLoading: boolean;
  load(): void;
}

const NO_MORE: MoreRows = { isThere: false, isLoading: false, load: () => undefined };

export interface VirtualTableProps<Row extends { readonly id: string }> {
  readonly label: string;
  readonly columns: readonly VirtualColumn<Row>[];
  readonly rows: readonly Row[];
  /** Reads more rows. Absent if all rows are loaded. */
  readonly more?: MoreRows | undefined;
  /** The number of rows, shown when all are loaded. */
  readonly total: string;
  /** `undefined` for a read-only table. */
  readonly grid?: GridCells<Row>;
}

/** The part of its width to which a column shrinks before a read-only table scrolls sideways. */
const LEAST_SHARE = 0.88;
const ROW_HEIGHT = 38;
/** The estimated padding of a card and the height of its lines, until it is measured. */
const CARD_PADDING = 20;
const CARD_LINE_HEIGHT = 27;
/** The number of rows drawn above and below the visible ones. */
const ROWS_BESIDE = 12;
/** The approximate height of the headers above a table. */
const ABOVE_PX = 320;
/** More rows are read when fewer than this are left below. */
const ROWS_AHEAD = 50;

export function VirtualTable<Row extends { readonly id: string }>({
  label,
  columns: every,
  rows,
  more = NO_MORE,
  total,
  grid,
}: VirtualTableProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const keys = grid?.keys;
  const isNarrow = useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false });
  const areCards = isNarrow && !grid;
  const isFitted = !areCards && !grid;
  const room = useWidth(scroller, isFitted);
  const columns = isFitted ? thatFit(every, room) : every;
  const fullWidth = widthOf(columns);
  // Draws the visible rows first, then those beside them.
  const overscan = useDeferredValue(ROWS_BESIDE, 0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (areCards ? CARD_PADDING + columns.length * CARD_LINE_HEIGHT : ROW_HEIGHT),
    // Used until it is measured. Without a height, all rows would be drawn in one later step.
    initialRect: { width: innerWidth, height: Math.max(innerHeight - ABOVE_PX, 0) },
    overscan,
    // The cell with the focus stays however far the user scrolls; otherwise, the focus would be lost.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heights change when a phone is turned.
  useLayoutEffect(() => virtual.measure(), [areCards]);
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <>
      <Box
        ref={scroller}
        className="grid-scroll"
        role="group"
        aria-label={label}
        // A scrolling element must be reachable by the keyboard; a grid is, by its cells.
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
      </Box>
      <Text size="xs" c="dimmed" py={6} role="status">
        {isThere ? t('{count, number} loaded; scroll for more', { count: rows.length }) : total}
      </Text>
    </>
  );
}

/** The width of an element, known before its first paint; that of the window if it is not needed. */
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

/** The columns that fit: extra ones are left out from the last on until they do. */
function thatFit<Row>(columns: readonly VirtualColumn<Row>[], room: number): readonly VirtualColumn<Row>[] {
  const last = columns.findLastIndex(({ isExtra }) => isExtra);
  if (last < 0 || widthOf(columns) * LEAST_SHARE <= room) return columns;
  return thatFit(columns.toSpliced(last, 1), room);
}

/** Takes the place of the rows that are not drawn. */
function Gap({ height }: { readonly height: number }) {
  return height > 0 ? <tr style={{ height }} /> : null;
}

/** The place of a cell: its row, -1 for the headings, and its column. */
interface GridPlace {
  readonly row: number;
  readonly column: number;
}

export interface GridKeysOptions {
  readonly rowCount: number;
  readonly columnCount: number;
  /** The column that the Tab key enters first. */
  readonly firstColumn: number;
  /** Called for F2 in any cell, and for Enter in a cell without a link, button or box. */
  onOpen(place: GridPlace): void;
}

export interface GridKeys {
  readonly table: RefObject<HTMLTableElement | null>;
  readonly active: GridPlace;
  /** Must be called after rows were rendered, which happens with every scroll. */
  settle(): void;
  moveTo(place: GridPlace): void;
  onKeyDown(event: KeyboardEvent): void;
  onFocus(event: FocusEvent): void;
}

const ROWS_OF_A_PAGE = 12;
const BESIDE = '.cell-link';

/**
 * Handles the keys of a grid: Tab reaches one cell, and arrows, Home, End and Page move from it to the
 * others. A cell with a link, a button or a box passes the focus to it. A link of the class `cell-link`,
 * which stands beside the text of its cell, is reached by Tab.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/grid/
 */
export function useGridKeys(options: GridKeysOptions): GridKeys {
  const { rowCount, columnCount, firstColumn, onOpen } = options;
  const table = useRef<HTMLTableElement>(null);
  const [place, setPlace] = useState<GridPlace>({ row: 0, column: firstColumn });
  const isToBeFocused = useRef(false);
  const active = {
    row: Math.min(place.row, rowCount - 1),
    column: Math.min(place.column, columnCount - 1),
  };

  const moveTo = ({ row, column }: GridPlace) => {
    isToBeFocused.current = true;
    setPlace({
      row: Math.max(-1, Math.min(row, rowCount - 1)),
      column: Math.max(0, Math.min(column, columnCount - 1)),
    });
  };

  return {
    table,
    active,
    moveTo,
    settle() {
      for (const cell of table.current?.querySelectorAll<HTMLElement>('th, td') ?? []) {
        const { row, column } = placeOf(cell);
        const isActive = row === active.row && column === active.column;
        const target = cell.querySelector<HTMLElement>(`a:not(${BESIDE}), button, input`) ?? cell;
        target.tabIndex = isActive ? 0 : -1;
        const beside = cell.querySelector<HTMLElement>(BESIDE);
        if (beside) beside.tabIndex = target.tabIndex;
        if (!isActive || !isToBeFocused.current) continue;
        isToBeFocused.current = false;
        target.focus({ preventScroll: true });
        cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
    },
    onKeyDown(event) {
      const target = event.target as HTMLElement;
      const cell = target.closest<HTMLElement>('th, td');
      // Elements outside of the grid, such as the editor of a cell, handle their own keys.
      if (event.defaultPrevented || event.altKey || !cell || !table.current?.contains(cell)) return;
      const isOpened = event.key === 'F2' || (event.key === 'Enter' && target === cell);
      const next = nextPlace(event, { active, rowCount, columnCount });
      if (!isOpened && !next) return;
      event.preventDefault();
      if (isOpened && active.row >= 0) onOpen(active);
      if (next) moveTo(next);
    },
    onFocus(event) {
      const cell = (event.target as HTMLElement).closest<HTMLElement>('th, td');
      if (!cell || !table.current?.contains(cell)) return;
      const focused = placeOf(cell);
      if (focused.row !== active.row || focused.column !== active.column) setPlace(focused);
    },
  };
}

function nextPlace(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  { active, ...of }: Pick<GridKeysOptions, 'rowCount' | 'columnCount'> & Pick<GridKeys, 'active'>,
): GridPlace | undefined {
  const { row, column } = active;
  const isFar = ctrlKey || metaKey;
  const places: Readonly<Record<string, GridPlace>> = {
    ArrowUp: { row: row - 1, column },
    ArrowDown: { row: row + 1, column },
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    Home: { row: isFar ? 0 : row, column: 0 },
    End: { row: isFar ? of.rowCount - 1 : row, column: of.columnCount - 1 },
    PageUp: { row: Math.max(0, row - ROWS_OF_A_PAGE), column },
    PageDown: { row: row + ROWS_OF_A_PAGE, column },
  };
  return places[key];
}

/** Row numbers count the headings as the first row. */
function placeOf(cell: HTMLElement): GridPlace {
  const { cellIndex, parentElement } = cell as HTMLTableCellElement;
  return { row: Number(parentElement?.ariaRowIndex) - 2, column: cellIndex };
}
