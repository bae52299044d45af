/** A table as a chart, with a choice of the axes. It is loaded on demand. */
import { useMemo, useState } from 'react';
import { headingOfPath } from '../../explore/cell-printer';
import { type ChartChoice, chooseChart, labelsOf, measuresOf, pointsOf } from '../../explore/chart-choice';
import type { CellKind, ResultCell, ResultTable } from '../../explore/result-tables';
import { ChartCanvas } from '../charts/chart-canvas';
import { formats, phrase, t } from '../language/texts';

export interface TableViewProps {
  readonly table: ResultTable;
  readonly printCell: (cell: ResultCell, kind: CellKind) => string;
}

export function ChartView({ table, printCell }: TableViewProps) {
  const first = useMemo(() => chooseChart(table), [table]);
  const [choice, setChoice] = useState(first);
  if (!first || !choice) {
    return (
      <p className="hint">
        {t('This list has no number to draw. Add a count, a sum or another number to the query.')}
      </p>
    );
  }
  const points = pointsOf(table, choice);
  const shown = choice.type === 'pie' ? points.series.slice(0, 1) : points.series;
  return (
    <div className="chart">
      <ChartControls table={table} choice={choice} onChange={setChoice} />
      <ChartCanvas
        kind={choice.type === 'pie' ? 'doughnut' : choice.type}
        title={t(
          '{kind} chart of {measure} by {label}, {count, number} points. The table shows the same as text.',
          {
            kind: choice.type,
            measure: headingOfPath(choice.y),
            label: headingOfPath(choice.x),
            count: points.labels.length,
          },
        )}
        labels={points.labels.map(
          (label) => monthText(printCell(label, kindOf(table, choice.x))) || t('(none)'),
        )}
        labelled={headingOfPath(choice.x)}
        series={shown.map(({ name, values }) => ({
          name:
            choice.series === ''
              ? headingOfPath(choice.y)
              : printCell(name, kindOf(table, choice.series)) || t('(none)'),
          values,
        }))}
        unit="number"
        height={240}
      />
      <p className="hint">
        {points.isSummed && `${t('Rows with the same label are added up.')} `}
        {points.left > 0 &&
          t('{count, number} more did not fit. The table shows all.', { count: points.left })}
      </p>
    </div>
  );
}

/** A month in the short form for an axis: `2026-04` is Apr 2026. */
function monthText(label: string): string {
  return /^\d{4}-(0\d|1[0-2])$/.test(label) ? formats.month(label) : label;
}

const CHART_TYPES = { bar: phrase('Bar'), line: phrase('Line'), pie: phrase('Pie') } as const;

function ChartControls({
  table,
  choice,
  onChange,
}: {
  readonly table: ResultTable;
  readonly choice: ChartChoice;
  onChange(choice: ChartChoice): void;
}) {
  const measures = measuresOf(table).map(({ path }) => path);
  const labels = labelsOf(table).map(({ path }) => path);
  const optionName = (option: string) => (option === '' ? t('nothing') : headingOfPath(option));
  const fields = [
    { name: 'type', label: t('Kind'), options: Object.keys(CHART_TYPES) },
    { name: 'x', label: choice.type === 'pie' ? t('Slices') : t('Across'), options: labels },
    { name: 'y', label: t('Measure'), options: measures },
    ...(choice.type === 'pie'
      ? []
      : [
          {
            name: 'series',
            label: t('Split by'),
            options: ['', ...labels.filter((path) => path !== choice.x)],
          },
        ]),
  ];
  return (
    <div className="chart-controls">
      {fields.map(({ name, label, options }) => (
        <label key={name} className="chart-control">
          {label}
          <select
            value={choice[name as keyof ChartChoice]}
            onChange={(event) => onChange({ ...choice, [name]: event.target.value })}
          >
            {options.map((option) => (
              <option key={option} value={option}>
                {name === 'type' ? t(CHART_TYPES[option as ChartChoice['type']]) : optionName(option)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  );
}

function kindOf({ columns }: ResultTable, path: string) {
  return columns.find((column) => column.path === path)?.kind ?? 'text';
}
