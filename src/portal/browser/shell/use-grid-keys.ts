import { type FocusEvent, type KeyboardEvent, type RefObject, useRef, useState } from 'react';

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
        const target = targetIn(cell);
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
  {
    active,
    rowCount,
    columnCount,
  }: Pick<GridKeysOptions, 'rowCount' | 'columnCount'> & Pick<GridKeys, 'active'>,
): GridPlace | undefined {
  const { row, column } = active;
  const isFar = ctrlKey || metaKey;
  switch (key) {
    case 'ArrowUp':
      return { row: row - 1, column };
    case 'ArrowDown':
      return { row: row + 1, column };
    case 'ArrowLeft':
      return { row, column: column - 1 };
    case 'ArrowRight':
      return { row, column: column + 1 };
    case 'Home':
      return { row: isFar ? 0 : row, column: 0 };
    case 'End':
      return { row: isFar ? rowCount - 1 : row, column: columnCount - 1 };
    case 'PageUp':
      return { row: Math.max(0, row - ROWS_OF_A_PAGE), column };
    case 'PageDown':
      return { row: row + ROWS_OF_A_PAGE, column };
    default:
      return undefined;
  }
}

/** Row numbers count the headings as the first row. */
function placeOf(cell: HTMLElement): GridPlace {
  const { cellIndex, parentElement } = cell as HTMLTableCellElement;
  return { row: Number(parentElement?.ariaRowIndex) - 2, column: cellIndex };
}

function targetIn(cell: HTMLElement): HTMLElement {
  return cell.querySelector<HTMLElement>(`a:not(${BESIDE}), button, input`) ?? cell;
}
