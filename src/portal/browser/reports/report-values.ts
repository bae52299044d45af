/** What a report gives, and its values as texts. */
import { useFormats } from '../language/use-formats';
import { useReportWords } from '../language/use-report-words';
import { useTexts } from '../language/use-texts';
import type { ReportColumn } from './askable-report';
import { nameOfEnumValue } from './name-of-column';

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

/** Writes the values of a report as people read them; money in the currency that the report says. */
export function useReportValueText(
  currency: string | undefined,
): (value: unknown, column: ReportColumn) => string {
  const t = useTexts();
  const say = useReportWords();
  const formats = useFormats();
  const printScalar = (value: unknown, type: string): string => {
    if (value === null || value === undefined) return '';
    if (NUMBERS.has(type)) return formats.number(String(value));
    if (type === 'LocalDate') return formats.day(String(value));
    if (type === 'Month') return formats.month(String(value));
    if (type === 'DateTime') return formats.instant(String(value));
    if (type === 'Boolean') return value === true ? t('yes') : t('no');
    // The other types of a leaf are enums.
    return type === 'String' ? String(value) : say(nameOfEnumValue(String(value)));
  };
  const print = (value: unknown, column: ReportColumn): string => {
    if (value === null || value === undefined) return '';
    if (Array.isArray(value)) {
      const printed = value.map((one) => print(one, { ...column, isList: false }));
      return printed.join(column.members.length > 0 ? '; ' : ', ');
    }
    if (column.members.length > 0) {
      const object = value as ReportRow;
      const printed = column.members.map(({ name, type }) => printScalar(object[name], type));
      return printed.filter((text) => text !== '').join(' ');
    }
    return isMoneyColumn(column) ? formats.money(String(value), currency) : printScalar(value, column.type);
  };
  return print;
}
