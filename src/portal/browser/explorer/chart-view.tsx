/** A table as a chart, with a choice of the axes. It is loaded on demand. */
import { useGraphiQL } from '@graphiql/react';
import {
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PieController,
  PointElement,
  Tooltip,
} from 'chart.js';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { headingOfPath } from '../../explore/cell-printer';
import {
  type ChartChoice,
  type ChartPoints,
  chooseChart,
  labelsOf,
  measuresOf,
  pointsOf,
} from '../../explore/chart-choice';
import type { ResultTable } from '../../explore/result-tables';
import { type Formats, phrase, useFormats, useTexts } from '../language/use-texts.js';
import type { TableViewProps } from './table-view';

Chart.register(
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PieController,
  PointElement,
  Tooltip,
);

/** Distinguishable with any colour vision, on light and dark backgrounds (after Okabe and Ito). */
const COLOURS = [
  '#3b82c4',
  '#e08a00',
  '#2a9d78',
  '#cc6aa2',
  '#56b4e9',
  '#d1572f',
  '#8a7fd1',
  '#a39a1e',
  '#6b7280',
  '#b5651d',
  '#009e9e',
  '#c23b5a',
];

export function ChartView({ table, printCell }: TableViewProps) {
  const t = useTexts();
  const formats = useFormats();
  const first = useMemo(() => chooseChart(table), [table]);
  const [choice, setChoice] = useState(first);
  if (!first || !choice) {
    return (
      <p className="hint">
        {t('There is no number in this list to draw. Ask for a count, a sum or another number with it.')}
      </p>
    );
  }
  const points = pointsOf(table, choice);
  return (
    <div className="chart">
      <ChartControls table={table} choice={choice} onChange={setChoice} />
      <ChartCanvas
        points={points}
        choice={choice}
        locale={formats.locale}
        labels={points.labels.map(
          (label) => monthText(printCell(label, kindOf(table, choice.x)), formats) || t('(none)'),
        )}
        names={points.series.map(({ name }) =>
          choice.series === ''
            ? headingOfPath(choice.y)
            : printCell(name, kindOf(table, choice.series)) || t('(none)'),
        )}
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
function monthText(label: string, { month }: Formats): string {
  return /^\d{4}-(0\d|1[0-2])$/.test(label) ? month(label) : label;
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
  const t = useTexts();
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

interface Drawing {
  readonly points: ChartPoints;
  readonly choice: ChartChoice;
  /** The locale for grouping digits, e.g. in lakhs in India. */
  readonly locale: string;
  readonly labels: readonly string[];
  readonly names: readonly string[];
}

function ChartCanvas(drawing: Drawing) {
  const t = useTexts();
  const canvas = useRef<HTMLCanvasElement>(null);
  const isDark = useIsDark();
  const { choice, labels } = drawing;
  // A text to compare, because every render creates a new drawing.
  const key = JSON.stringify([drawing, isDark]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is all of them
  useEffect(() => {
    if (!canvas.current) return;
    const chart = new Chart(canvas.current, configurationOf(drawing, isDark));
    return () => chart.destroy();
  }, [key]);
  const said = t(
    '{kind} chart of {measure} by {label}, {count, number} points. The table shows the same as text.',
    {
      kind: choice.type,
      measure: headingOfPath(choice.y),
      label: headingOfPath(choice.x),
      count: labels.length,
    },
  );
  return (
    <div className="chart-canvas">
      <canvas ref={canvas} role="img" aria-label={said} />
    </div>
  );
}

function configurationOf(
  { points, choice, locale, labels, names }: Drawing,
  isDark: boolean,
): ChartConfiguration {
  const text = isDark ? '#d7deea' : '#33405a';
  const line = isDark ? '#ffffff1c' : '#0000001a';
  const shown = choice.type === 'pie' ? points.series.slice(0, 1) : points.series;
  const axis = (title: string) => ({
    ticks: { color: text, maxRotation: 0, autoSkipPadding: 8 },
    grid: { color: line },
    title: { display: true, text: title, color: text },
  });
  return {
    type: choice.type,
    data: {
      labels: [...labels],
      datasets: shown.map(({ values }, index) => ({
        label: names[index] ?? '',
        data: [...values],
        backgroundColor: choice.type === 'pie' ? labels.map((_, slice) => colourOf(slice)) : colourOf(index),
        borderColor: choice.type === 'line' ? colourOf(index) : 'transparent',
        borderWidth: choice.type === 'line' ? 2 : 0,
        // A curve would show values between and beyond the points that do not exist.
        tension: 0,
        pointRadius: labels.length > 40 ? 0 : 3,
        spanGaps: true,
      })),
    },
    options: {
      responsive: true,
      locale,
      maintainAspectRatio: false,
      animation: matchMedia('(prefers-reduced-motion: reduce)').matches ? false : { duration: 300 },
      plugins: {
        legend: {
          display: choice.type === 'pie' || points.series.length > 1,
          position: 'bottom',
          labels: { color: text },
        },
      },
      ...(choice.type !== 'pie' && {
        scales: {
          x: { ...axis(headingOfPath(choice.x)), grid: { display: false } },
          y: { ...axis(headingOfPath(choice.y)), border: { display: false }, beginAtZero: true },
        },
      }),
    },
  };
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#888888';
}

function kindOf({ columns }: ResultTable, path: string) {
  return columns.find((column) => column.path === path)?.kind ?? 'text';
}

/** Whether the page is dark, by choice of the user or by the system. */
function useIsDark(): boolean {
  const theme = useGraphiQL((state) => state.theme);
  const system = useSyncExternalStore(
    (listener) => {
      DARK.addEventListener('change', listener);
      return () => DARK.removeEventListener('change', listener);
    },
    () => DARK.matches,
  );
  return theme === null ? system : theme === 'dark';
}

const DARK = matchMedia('(prefers-color-scheme: dark)');
