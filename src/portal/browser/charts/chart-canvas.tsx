/** A chart in the colours of the theme. It contains the same data as a table, for screen readers. */
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import {
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  DoughnutController,
  Filler,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from 'chart.js';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { formats } from '../language/texts';
import { IdleQueue } from '../shell/idle-queue';
import { useIsPrinted, whenIdle, whenNear } from '../shell/lazy-sections';
import { THEME } from '../theme';
import { LYING_BAR_PX, mustLie, shortenLabel } from './shorten-label';

Chart.register(
  ...[ArcElement, BarController, BarElement, CategoryScale, DoughnutController, Filler, Legend, LinearScale],
  ...[LineController, LineElement, PointElement, Tooltip],
);

// The font of the page. The first text in another font takes a phone a fifth of a second.
Chart.defaults.font.family = THEME.fontFamily ?? 'system-ui';

/** A chart takes a phone a tenth of a second, and the answers of two tiles often arrive together. */
const drawings = new IdleQueue(whenIdle);
// The first chart takes twice as long as the others. A small one, which nobody sees, takes half of it.
drawings.wait(() => {
  const data = { labels: [''], datasets: [{ data: [1] }] };
  const canvas = document.createElement('canvas');
  new Chart(canvas, { type: 'bar', data, options: { responsive: false, animation: false } }).destroy();
});

export interface ChartSeries {
  readonly name: string;
  /** `null` where there is no value. */
  readonly values: readonly (number | null)[];
}

export interface ChartCanvasProps {
  readonly kind: 'bar' | 'stackedBar' | 'line' | 'doughnut';
  readonly title: string;
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
  /** The title of the labels, shown below them if they do not explain themselves. */
  readonly labelled?: string | undefined;
  /**
   * Whether the labels are consecutive times. The axis may then skip some of them, and the bars stand
   * upright.
   */
  readonly isOverTime?: boolean;
  readonly unit: 'number' | 'money' | 'percent';
  /** The currency, if the unit is money. */
  readonly currency?: string | undefined;
  /** The minimum height. The chart fills its container. */
  readonly height: number;
}

/** Distinguishable with any colour vision, on light and dark backgrounds (after Okabe and Ito). */
const SERIES_COLOURS = [
  '#3b82c4',
  '#e08a00',
  '#2a9d78',
  '#cc6aa2',
  '#56b4e9',
  '#d1572f',
  '#8a7fd1',
  '#a39a1e',
];

const INKS = {
  light: { text: '#566071', line: '#e9ecf1', tooltip: '#1a2233' },
  dark: { text: '#a9b1bf', line: '#2a313d', tooltip: '#3b4352' },
} as const;

/**
 * The width of A4 between its margins, at 96 dots per inch. A chart drawn for a wide screen would be scaled
 * down on paper until its letters are unreadable.
 */
const PAPER_WIDTH_PX = 688;

/** The height of the axis above horizontal bars. */
const AXIS_HEIGHT_PX = 36;

/** Whether it is visible or close to it. Drawing all charts of a page at once would block a phone. */
function useIsNear(element: RefObject<Element | null>): boolean {
  const [isNear, setIsNear] = useState(false);
  useEffect(() => {
    if (!element.current || isNear) return undefined;
    return whenNear(element.current, () => setIsNear(true));
  }, [element, isNear]);
  return isNear;
}

export function ChartCanvas(props: ChartCanvasProps) {
  const { kind, title, labels, labelled, series, isOverTime = false, unit, currency, height } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme('light');
  const isPrinted = useIsPrinted();
  const isDrawn = useIsNear(canvas) || isPrinted;
  const theme = isPrinted ? 'light' : scheme;
  const { ref: figure, width } = useElementSize();
  const isLying =
    !isOverTime &&
    (kind === 'bar' || kind === 'stackedBar') &&
    mustLie(labels, isPrinted ? PAPER_WIDTH_PX : width);
  const written = JSON.stringify([kind, labels, labelled, series, unit, currency, isLying]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn is compared by its text.
  useEffect(() => {
    if (!canvas.current || !isDrawn) return undefined;
    const place = canvas.current;
    const ink = INKS[theme];
    const print = (value: number) => {
      if (unit === 'money') return formats.money(value, currency);
      return unit === 'percent' ? formats.percent(value) : formats.number(value);
    };
    const printShort = (value: number) =>
      unit === 'money' ? formats.shortMoney(value, currency) : formats.shortNumber(value);
    const isRound = kind === 'doughnut';
    const isCount =
      unit === 'number' &&
      series.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)));
    const legendSide = isLying ? 'top' : 'bottom';
    const axis = { border: { display: false }, stacked: kind === 'stackedBar' };
    const named = {
      ...axis,
      grid: { display: false },
      title: { display: labelled !== undefined && !isLying, text: labelled, color: ink.text },
      ticks: {
        color: ink.text,
        maxRotation: 0,
        autoSkip: !isLying,
        autoSkipPadding: 8,
        // A name of two hundred letters would leave no room for its bar. The tooltip shows the whole name.
        callback: (value: string | number) => shortenLabel(labels[Number(value)] ?? ''),
      },
    };
    const measured = {
      ...axis,
      grid: { color: ink.line },
      beginAtZero: true,
      // At the bottom, the axis of horizontal bars would often be off the screen.
      ...(isLying && { position: 'top' as const }),
      ticks: {
        color: ink.text,
        maxRotation: 0,
        maxTicksLimit: 6,
        // Counts of students have no fractions.
        ...(isCount && { precision: 0 }),
        callback: (value: string | number) => printShort(Number(value)),
      },
    };
    const configuration: ChartConfiguration = {
      type: kind === 'stackedBar' ? 'bar' : kind,
      data: {
        labels: [...labels],
        datasets: series.map(({ name, values }, index) => {
          const colour = SERIES_COLOURS[index % SERIES_COLOURS.length] ?? '';
          return {
            label: name,
            data: [...values],
            backgroundColor: isRound ? SERIES_COLOURS : colour,
            borderColor: isRound ? 'transparent' : colour,
            borderWidth: kind === 'line' ? 2 : 0,
            borderRadius: kind === 'line' || isRound ? 0 : 3,
            pointRadius: 2,
            spanGaps: true,
            maxBarThickness: 42,
          };
        }),
      },
      options: {
        responsive: !isPrinted,
        maintainAspectRatio: false,
        animation: false,
        // The tooltip shows all series at one label, wherever the pointer is above it.
        ...(!isRound && { interaction: { mode: 'index', intersect: false, axis: isLying ? 'y' : 'x' } }),
        plugins: {
          legend: {
            display: isRound || series.length > 1,
            position: isRound ? 'right' : legendSide,
            labels: {
              color: ink.text,
              boxWidth: 12,
              boxHeight: 12,
              // A slice has no axis from which to read its value.
              ...(isRound && {
                generateLabels: (drawn: Chart) =>
                  Chart.overrides.doughnut.plugins.legend.labels.generateLabels(drawn).map((item, index) => ({
                    ...item,
                    text: `${shortenLabel(item.text)}  ${printShort(series[0]?.values[index] ?? 0)}`,
                  })),
              }),
            },
          },
          tooltip: {
            backgroundColor: ink.tooltip,
            padding: 10,
            cornerRadius: 6,
            boxPadding: 4,
            callbacks: {
              label: ({ dataset, label, raw }) => `${isRound ? label : dataset.label}: ${print(Number(raw))}`,
            },
          },
        },
        ...(!isRound && {
          indexAxis: isLying ? ('y' as const) : ('x' as const),
          scales: isLying ? { x: measured, y: named } : { x: named, y: measured },
        }),
      },
    };
    if (isPrinted) {
      const { clientWidth, clientHeight } = place;
      const chart = new Chart(place, configuration);
      chart.resize(Math.min(clientWidth, PAPER_WIDTH_PX), clientHeight);
      return () => chart.destroy();
    }
    let chart: Chart | undefined;
    const leave = drawings.wait(() => {
      chart = new Chart(place, configuration);
    });
    return () => {
      leave();
      chart?.destroy();
    };
  }, [written, theme, formats.locale, isDrawn, isPrinted]);
  const leastHeight = isLying ? Math.max(height, labels.length * LYING_BAR_PX + AXIS_HEIGHT_PX) : height;
  return (
    // Horizontal bars scroll within a tile, also by the keyboard.
    <figure className="chart-figure" ref={figure} {...(isLying && { tabIndex: 0, 'aria-label': title })}>
      <div className="chart-frame" data-lying={isLying || undefined} style={{ minHeight: leastHeight }}>
        <canvas ref={canvas} role="img" aria-label={title} />
      </div>
      {/* A table takes the width of what is in it, whatever its own is to be. */}
      <div className="visually-hidden">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <td />
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two of the points may have the same label.
              <tr key={index}>
                <th scope="row">{label}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{values[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
