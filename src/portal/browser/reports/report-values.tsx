/** The columns of a report, and its values as texts. */
import { nameOfColumn, nameOfEnumValue } from '../language/name-of-field';
import { formats, say, t } from '../language/texts';
import { sayAllowed } from '../records/use-declared-collection';
import type { ReportColumn, ReportLeaf } from './askable-report';

export type ReportRow = Readonly<Record<string, unknown>>;

export interface AnsweredReport {
  readonly rows: readonly ReportRow[];
  readonly totals?: ReportRow;
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
}

/** A single object with at most this many values is shown in one line. */
const MOST_IN_LINE = 3;

export function ReportCell({ row, column, currency }: ReportCellProps) {
  const value = row[column.name];
  const valueText = useReportValueText(currency);
  const { members } = column;
  const isPlain = !Array.isArray(value) || value.length === 0 || members.length === 0;
  if (isPlain || (value.length === 1 && members.length <= MOST_IN_LINE)) return valueText(value, column, row);
  return (
    <details>
      <summary>{t('{count, plural, one {# entry} other {# entries}}', { count: value.length })}</summary>
      <EntriesTable entries={value} column={column} currency={currency} />
    </details>
  );
}

interface EntriesTableProps extends Omit<ReportCellProps, 'row'> {
  readonly entries: readonly ReportRow[];
}

/** A member that no entry has gets no column. */
function EntriesTable({ entries, column, currency }: EntriesTableProps) {
  const valueText = useReportValueText(currency);
  const members = column.members
    .map((member): ReportColumn => ({ ...member, isList: false, members: [] }))
    .filter(({ name }) => entries.some((entry) => (entry[name] ?? '') !== ''));
  const classOf = (member: ReportColumn) => (isNumberColumn(member) ? 'numeric one-line' : '');
  return (
    <table className="entries">
      <thead>
        <tr>
          {members.map((member) => (
            <th key={member.name} scope="col" className={classOf(member)}>
              {say(nameOfColumn(member.name))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry of a list has no name but its place.
          <tr key={index}>
            {members.map((member) => (
              <td key={member.name} className={classOf(member)}>
                {valueText(entry[member.name], member, entry)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
