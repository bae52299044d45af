/** Prints the cells of a result table for people and for spreadsheets. Needs no browser. */
import { printCsvLine } from '../../base/tables/csv-line.js';
import type { CellKind, ResultCell, ResultTable } from './result-tables.js';

/** `key.dateMonth` as "Date month", without the parts of the path that only lead to the value. */
export function headingOfPath(path: string): string {
  const words = path
    .split('.')
    .filter(
      (part, index, parts) => index === parts.length - 1 || !['node', 'nodes', 'edges', 'key'].includes(part),
    )
    .map((part) =>
      part
        .replaceAll(/_/g, ' ')
        .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
        .toLowerCase(),
    )
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Prints cells in one language and time zone; instants are in the time of the school. */
export function createCellPrinter(options: {
  readonly locale: string | undefined;
  readonly timeZone: string;
}) {
  const decimal = new Intl.NumberFormat(options.locale, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  const number = new Intl.NumberFormat(options.locale, { maximumFractionDigits: 6 });
  // Swedish formats instants like ISO 8601: sortable, and unambiguous everywhere.
  const instant = new Intl.DateTimeFormat('sv-SE', {
    timeZone: options.timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return (cell: ResultCell, kind: CellKind): string => {
    if (cell === null) return '';
    if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
    if (kind === 'instant') return instant.format(new Date(String(cell)));
    if (kind === 'decimal' && isExactNumber(cell)) return decimal.format(cell);
    return typeof cell === 'number' ? number.format(cell) : cell;
  };
}

export function isNumericKind(kind: CellKind | undefined): boolean {
  return kind === 'number' || kind === 'decimal';
}

/**
 * Prints all rows by RFC 4180; numbers keep their digits, instants are UTC. Begins with a byte order mark,
 * because a spreadsheet would assume another encoding without it.
 */
export function printTableCsv({ columns, rows }: ResultTable): string {
  const heading = printCsvLine(columns.map(({ path }) => path));
  const lines = rows.map((row) =>
    printCsvLine(row.map((cell) => (cell === null || cell === '' ? null : String(cell)))),
  );
  return `\uFEFF${heading}${lines.join('')}`;
}

function isExactNumber(cell: ResultCell): cell is `${number}` {
  return typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell);
}
