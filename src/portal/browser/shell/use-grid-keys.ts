import { type FocusEvent, type KeyboardEvent, type RefObject, useRef, useState } from 'react';

/** A cell by its row, -1 for the headings, and its column. */
interface GridPlace {
  readonly row: number;
  readonly column: number;
}

export interface GridKeysOptions {
  readonly rowCount: number;
  readonly columnCount: number;
  /** Where the key Tab comes in first. */
  readonly firstColumn: number;
  /** Enter or F2 was pressed in a cell that holds nothing to press itself; F2 in any. */
  onOpen(place: GridPlace): void;
}

export interface GridKeys {
  readonly table: RefObject<HTMLTableElement | null>;
  readonly active: GridPlace;
  /** Run after rows were drawn, which change with every scroll. */
  settle(): void;
  moveTo(place: GridPlace): void;
  onKeyDown(event: KeyboardEvent): void;
  onFocus(event: FocusEvent): void;
}

const ROWS_OF_A_PAGE = 12;
const BESIDE = '.cell-link';

/**
 * The keys of a grid: one cell is in the order of Tab, and arrows, Home, End and Page go from it to the
 * others. A cell that holds a link, a button or a box hands the focus on to that; a link beside what the cell
 * says, of the class `cell-link`, follows by Tab.
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
      // What is drawn elsewhere, such as the editor of a cell, has keys of its own.
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

/** The rows count from the headings, which are the first. */
function placeOf(cell: HTMLElement): GridPlace {
  const { cellIndex, parentElement } = cell as HTMLTableCellElement;
  return { row: Number(parentElement?.ariaRowIndex) - 2, column: cellIndex };
}

function targetIn(cell: HTMLElement): HTMLElement {
  return cell.querySelector<HTMLElement>(`a:not(${BESIDE}), button, input`) ?? cell;
}
