/** The rows of a report as a chart, with a choice of the measure. */
import { Card, Group, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { labelsOf, measuresOf } from '../../explore/chart-choice';
import {
  type FieldShape,
  type ResultCell,
  type ResultColumn,
  tablesOf,
  UNKNOWN_LEAF,
} from '../../explore/result-tables';
import { ChartCanvas } from '../charts/chart-canvas';
import { sayPoints } from '../charts/say-points';
import { pointsOfTile } from '../dashboards/tile-picture';
import { nameOfColumn } from '../language/name-of-field';
import { say, t } from '../language/texts';
import { EmptyState } from '../shell/states';
import { PickField } from '../shell/text-field';
import type { AskableReport, ReportRow } from './askable-report';
import { isMoneyColumn, useReportValueText } from './report-values';

export interface ReportChartProps {
  readonly form: AskableReport;
  readonly rows: readonly ReportRow[];
  readonly currency: string | undefined;
  readonly title: string;
}

const TIMES: ReadonlySet<ResultColumn['kind']> = new Set(['day', 'month', 'instant']);

export function ReportChart({ form, rows, currency, title }: ReportChartProps) {
  const valueText = useReportValueText(currency);
  const [measureName, setMeasure] = useState<string>();
  const [labelName, setLabel] = useState<string>();
  const table = useMemo(() => tablesOf({ rows }, shapeOf(form))[0], [form, rows]);
  const points = table && pointsOfTile(table, { picture: 'BAR', measure: measureName, by: labelName });
  if (!points) return <EmptyState icon="chart" title={t('This part of the answer has no numbers')} />;
  const { by, measure } = points;
  const chosen = (columns: readonly ResultColumn[]) =>
    columns.map(({ path }) => ({ value: path, label: say(nameOfColumn(path)) }));
  const columnOf = ({ path }: ResultColumn) => form.columns.find(({ name }) => name === path);
  const print = (cell: ResultCell, of: ResultColumn) => {
    const column = columnOf(of);
    return column ? valueText(cell, column) : String(cell ?? '');
  };
  const said = sayPoints(points, title, { print, headingOf: nameOfColumn });
  const measured = columnOf(measure);
  const isAllZero = points.series.every(({ values }) => values.every((value) => !value));
  const barKind = points.series.length > 1 ? 'stackedBar' : 'bar';
  return (
    <Card withBorder padding="md">
      <Group mb="md" className="no-print">
        <PickField
          label={t('Show')}
          data={chosen(measuresOf(table))}
          value={measure.path}
          onChange={(next) => setMeasure(next ?? undefined)}
        />
        <PickField
          label={t('By')}
          data={chosen(labelsOf(table))}
          value={by.path}
          onChange={(next) => setLabel(next ?? undefined)}
        />
      </Group>
      {isAllZero ? (
        <EmptyState icon="chart" title={t('All values are zero')} />
      ) : (
        <ChartCanvas
          {...said}
          kind={TIMES.has(by.kind) && said.labels.length > 1 ? 'line' : barKind}
          unit={measured && isMoneyColumn(measured) ? 'money' : 'number'}
          currency={currency}
          height={360}
        />
      )}
      {points.left > 0 && (
        <Text c="dimmed" mt="xs">
          {t('{count, plural, one {# more is} other {# more are}} not in the chart', { count: points.left })}
        </Text>
      )}
    </Card>
  );
}

/** The columns without lists, which cannot be drawn. */
function shapeOf({ columns }: AskableReport): FieldShape {
  const drawn = columns.filter(({ isList, members }) => !isList && members.length === 0);
  const fields = new Map(
    drawn.map(({ name, type }): [string, FieldShape] => [name, { ...UNKNOWN_LEAF, type }]),
  );
  return { ...UNKNOWN_LEAF, fields: new Map([['rows', { type: undefined, isList: true, fields }]]) };
}
