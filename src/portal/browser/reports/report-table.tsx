/** The totals and the rows of a report with their links. The rows can be sorted and searched. */
import { Group, Text } from '@mantine/core';
import { useDeferredValue, useMemo, useState } from 'react';
import { ActButtons } from '../acts/act-buttons';
import { useActs } from '../acts/acts';
import { meaningOfColumn, nameOfColumn } from '../language/name-of-field';
import { say, t } from '../language/texts';
import { PrintedOnly, useIsPrinted } from '../shell/lazy-sections';
import { type ListColumn, ListTable } from '../shell/list-table';
import { FindInput, useAddress } from '../shell/page-filter';
import { containsWords, type SortValue, sortRows } from '../shell/sort-rows';
import { TextButton } from '../shell/text-button';
import type { AskableReport, ReportColumn, ReportRow } from './askable-report';
import { type EarlierReport, EarlierValue } from './earlier-report';
import {
  ARRANGED,
  isNumberColumn,
  type LoadedReport,
  REPORT_PAGE,
  ReportCell,
  type ReportCellProps,
  useReportValueText,
} from './report-values';

/** With more columns, the table is printed in smaller letters. */
const MOST_ROOMY = 14;

export interface ReportTableProps {
  readonly form: AskableReport;
  readonly answer: LoadedReport;
  readonly label: string;
  readonly linkOf: ReportCellProps['linkOf'];
  /** The same report of an earlier period. */
  readonly earlier: EarlierReport;
}

export function ReportTable({ form, answer, label, linkOf, earlier }: ReportTableProps) {
  const { rows, first, hasNextPage, isFetchingNextPage, isLoadingAll, fetchNextPage } = answer;
  const currency = first?.currency;
  const [{ sort, find }, change, field] = useAddress(ARRANGED);
  const [most, setMost] = useState(REPORT_PAGE);
  const valueText = useReportValueText(currency);
  const place = { report: form.field };
  const hasActs = useActs(place).length > 0;
  const columns = form.columns
    .filter(({ name }) => rows.some((row) => row[name] !== null && row[name] !== ''))
    .toSorted((one, other) => Number(HEADS.has(other.name)) - Number(HEADS.has(one.name)));
  const isWide = columns.length > MOST_ROOMY;
  const paper = isWide ? 'narrow' : 'roomy';
  const cell = { currency, linkOf, paper: useIsPrinted() ? paper : undefined } as const;
  const shown = columns.map(
    (column, index): ListColumn<ReportRow> => [
      <span key="head" title={say(meaningOfColumn(column.description))}>
        {say(nameOfColumn(column.name))}
      </span>,
      (row) => (
        <>
          <ReportCell {...cell} row={row} column={column} />
          {earlier.rows && <EarlierValue {...{ row, column, currency }} earlier={earlier.rows.of(row)} />}
        </>
      ),
      `${index === 0 ? 'row-head ' : ''}${classOf(column, rows)}`,
      column.isList || column.members.length === 0
        ? {
            name: column.name,
            valueOf: (row) =>
              sortValueOf(row[column.name], column, () => valueText(row[column.name], column, row)),
          }
        : undefined,
    ],
  );
  const acts: ListColumn<ReportRow> = [
    t('Actions'),
    (row) => (
      <Group gap={4} wrap="nowrap">
        <ActButtons
          place={place}
          subject={row}
          size="compact-sm"
          about={String(row.name ?? rows.indexOf(row) + 1)}
        />
      </Group>
    ),
    'no-print',
  ];
  const words = useDeferredValue(find);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns follow from the rows.
  const arranged = useMemo(() => {
    const textOf = (row: ReportRow) =>
      columns.map((column) => valueText(row[column.name], column, row)).join(' ');
    const found = words === '' ? rows : rows.filter((row) => containsWords(textOf(row), words));
    return sortRows(
      found,
      shown.flatMap(([, , , by]) => by ?? []),
      sort,
    );
  }, [rows, words, sort]);
  const count = arranged.length;
  const found = words !== '' && `${t('{count, plural, one {# row} other {# rows}} found', { count })} `;
  const drawn = arranged.slice(0, most);
  const isMore = hasNextPage || arranged.length > most;
  const showMore = () => {
    setMost(most + REPORT_PAGE);
    if (hasNextPage && rows.length < most + REPORT_PAGE) void fetchNextPage();
  };
  return (
    <>
      <Group mb="sm" justify="space-between">
        <Text role="status">
          {found}
          {isLoadingAll && t('Loading all rows …')}
          {!isLoadingAll &&
            hasNextPage &&
            (words !== '' || sort !== '') &&
            t('Sorted and searched are the first {count, number} rows.', { count: rows.length })}
        </Text>
        <div className="no-print">
          <FindInput label={t('Find in the rows')} {...field('find')} />
        </div>
      </Group>
      <ListTable<ReportRow>
        label={label}
        scrollClass={isWide ? 'report-table report-wide' : 'report-table'}
        className=""
        verticalSpacing={6}
        stickyHeader={false}
        rows={drawn}
        order={{ sort, onSort: (next) => change({ sort: next }, 'replace') }}
        keyOf={(_row, index) => String(index)}
        columns={hasActs ? [...shown, acts] : shown}
      />
      {isMore && (
        <>
          <PrintedOnly>
            <Text mt="sm">{t('Showing the first {count, number} rows.', { count: drawn.length })}</Text>
          </PrintedOnly>
          <Group justify="center" mt="md" className="no-print">
            <TextButton label={t('Load more rows')} loading={isFetchingNextPage} onClick={showMore} />
          </Group>
        </>
      )}
    </>
  );
}

/** Lists, such as by class, open in dialogs. */
export function ReportTotals({ form, answer, linkOf, earlier }: Omit<ReportTableProps, 'label'>) {
  const { totals = {}, currency } = answer.first ?? {};
  const isEmpty = ({ name, isList }: ReportColumn) =>
    isList && !(totals[name] as ReportRow[] | undefined)?.length;
  const shown = form.totals.filter((column) => !isEmpty(column));
  return (
    <dl className="totals">
      {shown.map((column) => (
        <div key={column.name} className={column.isList ? 'no-print' : undefined}>
          <Text component="dt" size="xs" c="dimmed">
            {say(nameOfColumn(column.name))}
          </Text>
          <Text component="dd" fw={600} size="lg" m={0}>
            <ReportCell row={totals} {...{ column, currency, linkOf }} />
            {earlier.totals && (
              <EarlierValue row={totals} {...{ column, currency }} earlier={earlier.totals} />
            )}
          </Text>
        </div>
      ))}
    </dl>
  );
}

/** The columns that name the subject of a row, and stay in view. */
const HEADS = new Set(['name', 'student', 'person']);

const TIMES = new Set(['LocalDate', 'Month', 'DateTime']);

/** Sorts numbers by size, times in their order, lists by length, and all else by its printed text. */
function sortValueOf(value: unknown, column: ReportColumn, printed: () => string): SortValue {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.length;
  if (isNumberColumn(column)) return Number(value);
  return TIMES.has(column.type) ? String(value) : printed();
}

/** The number of a student or a telephone number. A longer text may wrap at its hyphens. */
const CODE = /^\S{0,16}$/;

/** A list needs room, or each word would take a line. A day or a code does not wrap. */
function classOf(column: ReportColumn, rows: readonly ReportRow[]): string {
  if (isNumberColumn(column)) return 'numeric one-line';
  if (column.isList || column.members.length > 0) return 'listing';
  const isCode = column.type === 'String' && rows.every((row) => CODE.test(String(row[column.name] ?? '')));
  return isCode || TIMES.has(column.type) ? 'one-line' : '';
}
