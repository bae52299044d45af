/** The rows of a report as a chart, with the measure to choose. */
import { Card, Group, Select } from '@mantine/core';
import { useState } from 'react';
import { ChartCanvas } from '../charts/chart-canvas';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import type { AskableReport } from './askable-report';
import {
  isMoneyColumn,
  isNumberColumn,
  nameOfColumn,
  printReportValue,
  type ReportRow,
} from './report-values';

export interface ReportChartProps {
  readonly form: AskableReport;
  readonly rows: readonly ReportRow[];
  readonly currency: string | undefined;
  readonly title: string;
}

/** More bars than these cannot be told apart. */
const MOST_BARS = 60;

export function ReportChart({ form, rows, currency, title }: ReportChartProps) {
  const t = useTexts();
  const formats = useFormats();
  const measures = form.columns.filter(isNumberColumn);
  const names = form.columns.filter(
    (column) => !isNumberColumn(column) && column.members.length === 0 && !column.isList,
  );
  const [measureName, setMeasure] = useState(measures.at(-1)?.name ?? '');
  const [labelName, setLabel] = useState(names.find(({ name }) => rows[0]?.[name] !== null)?.name ?? '');
  const measure = measures.find(({ name }) => name === measureName);
  const label = names.find(({ name }) => name === labelName);
  const shown = rows.slice(0, MOST_BARS);
  const chosen = (columns: typeof names) =>
    columns.map(({ name }) => ({ value: name, label: nameOfColumn(name) }));
  return (
    <Card withBorder padding="md">
      <Group mb="md" className="no-print">
        <Select
          label={t('Show')}
          data={chosen(measures)}
          value={measureName}
          onChange={(next) => setMeasure(next ?? '')}
          allowDeselect={false}
        />
        <Select
          label={t('By')}
          data={chosen(names)}
          value={labelName}
          onChange={(next) => setLabel(next ?? '')}
          allowDeselect={false}
        />
      </Group>
      {measure && label && (
        <ChartCanvas
          kind={label.type === 'LocalDate' || label.type === 'Month' ? 'line' : 'bar'}
          title={t('{title}: {measure} by {label}', {
            title,
            measure: nameOfColumn(measure.name),
            label: nameOfColumn(label.name),
          })}
          labels={shown.map((row) => printReportValue(row[label.name], label, { formats, currency }))}
          series={[
            { name: nameOfColumn(measure.name), values: shown.map((row) => Number(row[measure.name] ?? 0)) },
          ]}
          unit={isMoneyColumn(measure) ? 'money' : 'number'}
          height={360}
        />
      )}
    </Card>
  );
}
