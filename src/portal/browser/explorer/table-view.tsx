import { useMemo, useState } from 'react';
import { headingOfPath, isNumericKind } from '../../explore/cell-printer';
import type { CellKind, ResultCell, ResultTable } from '../../explore/result-tables';
import { t } from '../language/texts.js';
import { type ListColumn, ListTable } from '../shell/list-table';
import { sortRows } from '../shell/sort-rows';

/** More rows make a page slow. The CSV file contains all of them. */
const MOST_ROWS = 1000;

export interface TableViewProps {
  readonly table: ResultTable;
  readonly printCell: (cell: ResultCell, kind: CellKind) => string;
}

type ResultRow = ResultTable['rows'][number];

export function TableView({ table, printCell }: TableViewProps) {
  const [sort, setSort] = useState('');
  const columns = useMemo(() => columnsOf(table, printCell), [table, printCell]);
  const rows = useMemo(
    () =>
      sortRows(
        table.rows,
        columns.flatMap(([, , , by]) => by ?? []),
        sort,
      ),
    [table, columns, sort],
  );
  if (rows.length === 0) return <p className="hint">{t('No rows: nothing matches.')}</p>;
  return (
    <div className="result-table">
      <ListTable<ResultRow>
        label={t('Rows of {name}', { name: table.name })}
        scrollClass="report-table"
        className=""
        verticalSpacing={6}
        rows={rows.slice(0, MOST_ROWS)}
        columns={columns}
        keyOf={(_row, index) => String(index)}
        order={{ sort, onSort: setSort }}
      />
      {rows.length > MOST_ROWS && (
        <p className="hint">
          {t('The first {most, number} of {count, number} rows. The CSV file has all of them.', {
            most: MOST_ROWS,
            count: rows.length,
          })}
        </p>
      )}
    </div>
  );
}

/** A column with a longer text wraps its lines. */
const LONG_TEXT = 48;

function columnsOf(
  { columns, rows }: ResultTable,
  printCell: TableViewProps['printCell'],
): readonly ListColumn<ResultRow>[] {
  return columns.map(({ path, kind }, column) => {
    const isNumeric = isNumericKind(kind);
    const cellOf = (row: ResultRow) => row[column] ?? null;
    const isLong =
      (kind === 'list' || kind === 'text') &&
      rows.some((row) => String(cellOf(row) ?? '').length > LONG_TEXT);
    const classes = isLong ? 'long' : 'one-line';
    return [
      <span key="head" title={path}>
        {headingOfPath(path)}
      </span>,
      (row) => {
        const cell = cellOf(row);
        const printed = printCell(cell, kind);
        return kind === 'instant' && cell !== null ? <span title={String(cell)}>{printed}</span> : printed;
      },
      isNumeric ? 'numeric one-line' : classes,
      {
        name: path,
        valueOf: (row) => (isNumeric && cellOf(row) !== null ? Number(cellOf(row)) : cellOf(row)),
      },
    ];
  });
}
