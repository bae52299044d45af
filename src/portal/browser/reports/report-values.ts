/** What a report gives, and its values as texts. */
import type { Formats } from '../language/use-formats';
import type { ReportColumn } from './askable-report';

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

/** Whether its numbers are money: the description says their unit. */
export function isMoneyColumn(column: ReportColumn): boolean {
  return isNumberColumn(column) && /in the currency/i.test(column.description);
}

/** `daysOver90` as people read it: Days over 90. */
export function nameOfColumn(name: string): string {
  const words = name.replaceAll(/([a-z])([A-Z0-9])|(\d)([A-Z])/g, '$1$3 $2$4').toLowerCase();
  return words.replace(/^./, (first) => first.toUpperCase());
}

export function printReportValue(
  value: unknown,
  column: ReportColumn,
  { formats, currency }: { readonly formats: Formats; readonly currency: string | undefined },
): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    const printed = value.map((one) =>
      printReportValue(one, { ...column, isList: false }, { formats, currency }),
    );
    return printed.join(column.members.length > 0 ? '; ' : ', ');
  }
  if (column.members.length > 0) {
    const object = value as ReportRow;
    return column.members
      .map(({ name, type }) => printScalar(object[name], type, formats))
      .filter((text) => text !== '')
      .join(' ');
  }
  if (isMoneyColumn(column)) return formats.money(String(value), currency);
  return printScalar(value, column.type, formats);
}

function printScalar(value: unknown, type: string, formats: Formats): string {
  if (value === null || value === undefined) return '';
  if (NUMBERS.has(type)) return formats.number(String(value));
  if (type === 'LocalDate') return formats.day(String(value));
  if (type === 'Month') return formats.month(String(value));
  if (type === 'DateTime') return formats.instant(String(value));
  return String(value);
}
