/** The columns of a report, and its values as texts and as cells. */
import { Modal } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo } from 'react';
import { useGateway } from '../gateway/use-gateway';
import { nameOfColumn, nameOfEnumValue } from '../language/name-of-field';
import { formats, say, t } from '../language/texts';
import { sayAllowed } from '../records/use-declared-collection';
import { DialogButton } from '../shell/confirm-dialog';
import { ListTable } from '../shell/list-table';
import { TextLink } from '../shell/text-button';
import type { AskableReport, LinkedPage, ReportColumn, ReportLeaf, ReportRow } from './askable-report';

export interface AnsweredReport {
  readonly rows: readonly ReportRow[];
  readonly totals?: ReportRow;
  /** The parameters as understood, with the defaults. */
  readonly parameters: ReportRow;
  readonly warnings: readonly { readonly reason: string; readonly count: number }[];
  readonly generatedAt: string;
  readonly currency?: string;
  readonly pageInfo?: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const NUMBERS = new Set(['Int', 'Float', 'Decimal']);

export function isNumberColumn({ type, isList }: ReportColumn): boolean {
  return NUMBERS.has(type) && !isList;
}

/** Whether its numbers are money, according to the unit in its description. */
export function isMoneyColumn(column: ReportColumn): boolean {
  return isNumberColumn(column) && isMoney(column);
}

function isMoney({ type, description }: ReportLeaf): boolean {
  return NUMBERS.has(type) && /in the currency/i.test(description);
}

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** Texts that are codes of a record, such as `half_day`. Names and remarks are never codes. */
const CODED = new Set([
  ...['category', 'gender', 'kind', 'leaveType', 'paymentType', 'result', 'state', 'status', 'term'],
  'type',
]);

/** Formats the values of a report, with money in the currency that the report declares. */
export function useReportValueText(
  currency: string | undefined,
): (value: unknown, column: ReportColumn, row?: ReportRow) => string {
  const printLeaf = (value: unknown, leaf: ReportLeaf, row: ReportRow): string => {
    const { name, type } = leaf;
    if (value === null || value === undefined) return '';
    if (isMoney(leaf)) return formats.money(String(value), currency);
    // The unit of a decimal that is not money is in another column.
    if (type === 'Decimal' && row.kind === 'percent') return formats.percent(String(value));
    if (type === 'Decimal' && row.kind === 'amount') return formats.money(String(value), currency);
    if (NUMBERS.has(type)) return formats.number(String(value));
    if (type === 'LocalDate') return formats.day(String(value));
    if (type === 'Month') return formats.month(String(value));
    if (type === 'DateTime') return formats.instant(String(value));
    if (type === 'Boolean') return value === true ? t('yes') : t('no');
    if (type === 'String' && /month/i.test(name) && MONTH.test(String(value)))
      return formats.month(String(value));
    if (type === 'String') return CODED.has(name) ? sayAllowed(String(value)) : String(value);
    // All other leaf types are enums.
    return say(nameOfEnumValue(String(value)));
  };
  const print = (value: unknown, column: ReportColumn, row: ReportRow = {}): string => {
    if (value === null || value === undefined) return '';
    if (Array.isArray(value)) {
      const printed = value.map((one) => print(one, { ...column, isList: false }));
      return printed.join(column.members.length > 0 ? '; ' : ', ');
    }
    if (column.members.length > 0) {
      const object = value as ReportRow;
      const printed = column.members.map((member) => printLeaf(object[member.name], member, object));
      return printed.filter((text) => text !== '').join(' ');
    }
    return printLeaf(value, column, row);
  };
  return print;
}

export interface ReportCellProps {
  readonly row: ReportRow;
  readonly column: ReportColumn;
  readonly currency: string | undefined;
  /** The link of a value. */
  linkOf(column: string, row: ReportRow): LinkedPage | undefined;
  /** On paper, which has no dialogs, and no room for lists between many columns. */
  readonly paper?: 'roomy' | 'narrow' | undefined;
}

/** A list with at most this many values is shown in one line. */
const MOST_IN_LINE = 3;

export function ReportCell({ paper, ...cell }: ReportCellProps) {
  const { row, column, linkOf } = cell;
  const value = row[column.name];
  const text = useReportValueText(cell.currency)(value, column, row);
  const entries: readonly ReportRow[] = Array.isArray(value) ? value : [];
  const members = column.members.map((member): ReportColumn => ({ ...member, isList: false, members: [] }));
  const isShort = entries.length * Math.max(members.length, 1) <= MOST_IN_LINE;
  if (isShort || (paper && members.length === 0)) {
    const page = text === '' ? undefined : linkOf(column.name, row);
    return page ? <TextLink {...page}>{text}</TextLink> : text;
  }
  const title = say(nameOfColumn(column.name));
  const count = t('{count, plural, one {# entry} other {# entries}}', { count: entries.length });
  const list =
    members.length === 0 ? (
      text
    ) : (
      <ListTable<ReportRow>
        label={title}
        className="entries"
        rows={entries}
        keyOf={(_entry, index) => String(index)}
        columns={members
          // A member that no entry has gets no column.
          .filter(({ name }) => entries.some((entry) => (entry[name] ?? '') !== ''))
          .map((member) => [
            say(nameOfColumn(member.name)),
            (entry) => <ReportCell {...cell} row={entry} column={member} />,
            isNumberColumn(member) ? 'numeric one-line' : undefined,
          ])}
      />
    );
  if (paper) return paper === 'roomy' ? list : count;
  return (
    <DialogButton
      label={count}
      aria-label={`${count}: ${title}`}
      size="compact-sm"
      dialog={(close) => (
        <Modal opened onClose={close} size="lg" title={[title, row.name].filter(Boolean).join(' · ')}>
          {list}
        </Modal>
      )}
    />
  );
}

/** The order and the words of the table in the address. */
export const ARRANGED = { sort: '', find: '' };

export const REPORT_PAGE = 200;
/** The largest page of the gateway by default, and how many rows are loaded to be sorted. */
const WHOLE_PAGE = 1000;
const MOST_ROWS = 5000;

export interface ReportQuestion {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly isEnabled: boolean;
  /** Whether all rows are needed, such as to sort them, up to `MOST_ROWS`. */
  readonly isWhole: boolean;
}

export function useReportAnswer(form: AskableReport, { variables, isEnabled, isWhole }: ReportQuestion) {
  const gateway = useGateway();
  const query = useInfiniteQuery({
    queryKey: ['report', form.field, variables],
    queryFn: async ({ pageParam, signal }) => {
      const page = pageParam === null ? { first: REPORT_PAGE } : { first: WHOLE_PAGE, after: pageParam };
      const answer = await gateway.executeText<Readonly<Record<string, AnsweredReport>>>(
        form.document,
        { ...variables, ...page },
        { signal },
      );
      return answer[form.field];
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page?.pageInfo?.hasNextPage ? page.pageInfo.endCursor : undefined),
    enabled: isEnabled,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = query;
  const data = useDeferredValue(query.data);
  const rows = useMemo(() => data?.pages.flatMap((page) => page?.rows ?? []) ?? [], [data]);
  const isToLoad = isWhole && hasNextPage && rows.length < MOST_ROWS && !error;
  useEffect(() => {
    if (isToLoad && !isFetchingNextPage) void fetchNextPage();
  }, [isToLoad, isFetchingNextPage, fetchNextPage]);
  return { ...query, first: data?.pages[0], rows, isLoadingAll: isToLoad };
}

export type LoadedReport = ReturnType<typeof useReportAnswer>;
