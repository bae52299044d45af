/** The same report for an earlier period: the choice of it, and its numbers beside those of the report. */
import { Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { phrase, t } from '../language/texts';
import { choicesOf } from '../shell/list-table';
import { ProblemState } from '../shell/states';
import { PickField } from '../shell/text-field';
import type { AskableReport, ReportRow } from './askable-report';
import { type EarlierRows, earlierPeriod, type PeriodComparison, pairRows } from './earlier-period';
import {
  isNumberColumn,
  type LoadedReport,
  type ReportCellProps,
  type ReportQuestion,
  useReportAnswer,
  useReportValueText,
} from './report-values';

const COMPARISONS: Readonly<Record<PeriodComparison, string>> = {
  period: phrase('Previous period'),
  year: phrase('Same period last year'),
};

export interface EarlierReport {
  /** The parameters that differ; `undefined` unless the viewer compares. */
  readonly changed: Readonly<Record<string, string>> | undefined;
  readonly answer: LoadedReport;
  readonly totals: ReportRow | undefined;
  /** `undefined` if rows cannot be paired. */
  readonly rows: EarlierRows | undefined;
}

export interface EarlierQuestion extends Pick<ReportQuestion, 'variables'> {
  readonly now: LoadedReport;
  /** A comparison, or an invalid text from the address. */
  readonly compare: string;
}

export function useEarlierReport(
  form: AskableReport,
  { variables, now, compare }: EarlierQuestion,
): EarlierReport {
  const comparison = Object.hasOwn(COMPARISONS, compare) ? (compare as PeriodComparison) : undefined;
  const period = comparison && now.first ? earlierPeriod(now.first.parameters, comparison) : undefined;
  const answer = useReportAnswer(form, {
    variables: { ...variables, ...period?.changed },
    isEnabled: period !== undefined,
    isWhole: true,
  });
  const isComplete = period !== undefined && answer.first !== undefined && !answer.hasNextPage;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the period follows from the rows.
  const rows = useMemo(
    () => (isComplete ? pairRows(now.rows, answer.rows, period.shift) : undefined),
    [isComplete, now.rows, answer.rows],
  );
  return { changed: period?.changed, answer, totals: period && answer.first?.totals, rows };
}

export interface EarlierChoiceProps {
  readonly earlier: EarlierReport;
  /** The parameters of the report as understood. */
  readonly parameters: ReportRow;
  readonly compare: string;
  /** The parameters of the earlier period as text. */
  readonly about: string;
  onCompare(compare: string): void;
}

export function EarlierChoice({ earlier, parameters, compare, about, onCompare }: EarlierChoiceProps) {
  if (!earlierPeriod(parameters, 'year')) return null;
  const { changed, answer, rows } = earlier;
  const isLoading = answer.isLoading || answer.isLoadingAll;
  return (
    <Group align="flex-end">
      <PickField
        label={t('Compare with')}
        data={choicesOf(COMPARISONS, t('Nothing'))}
        value={compare}
        w={260}
        className="no-print"
        onChange={onCompare}
      />
      {changed && (
        <Text role="status" className="earlier-note">
          {t('Below each number is that of the earlier period ({period}), and the difference.', {
            period: about,
          })}{' '}
          {isLoading && t('Loading all rows …')}
          {answer.first && rows === undefined && !isLoading && t('Only the totals can be compared.')}
          {rows !== undefined &&
            rows.others > 0 &&
            t('{count, plural, one {# row} other {# rows}} of the earlier period have no row here.', {
              count: rows.others,
            })}
        </Text>
      )}
      {changed && answer.error && <ProblemState problem={answer.error} retry={() => void answer.refetch()} />}
    </Group>
  );
}

interface EarlierValueProps extends Pick<ReportCellProps, 'column' | 'row' | 'currency'> {
  readonly earlier: ReportRow | undefined;
}

/** The number of the earlier period, and the difference to that of the report. */
export function EarlierValue({ column, row, earlier, currency }: EarlierValueProps) {
  const valueText = useReportValueText(currency);
  // A roll number is not an amount.
  if (!isNumberColumn(column) || column.name === 'rollNo') return null;
  const [now, before] = [row[column.name] ?? 0, earlier?.[column.name] ?? null];
  const difference = (Number(now) - Number(before)).toFixed(2);
  const signed = `${Number(difference) > 0 ? '+' : ''}${valueText(difference, column, row)}`;
  return (
    <Text className="earlier-value" c="dimmed" size="xs">
      {before === null ? '–' : `${valueText(before, column, row)} (${signed})`}
    </Text>
  );
}
