import type { ResultCell, ResultColumn } from '../../explore/result-tables';
import type { TilePoints } from '../dashboards/tile-picture';
import { formats, say, t } from '../language/texts';
import type { ChartCanvasProps } from './chart-canvas';
import { areMonthStarts } from './shorten-label';

type PrintCell = (cell: ResultCell, column: ResultColumn) => string;

/** The points of a chart with their texts. `headingOf` names a column, before it is translated. */
export function sayPoints(
  { by, measure, split, areParts, hasRest, labels, series }: TilePoints,
  title: string,
  { print, headingOf }: Readonly<{ print: PrintCell; headingOf: (path: string) => string }>,
): Pick<ChartCanvasProps, 'title' | 'labels' | 'series'> {
  const isByMonth = by.kind === 'day' && areMonthStarts(labels.map(String));
  const sayLabel = (label: ResultCell) =>
    isByMonth ? formats.month(String(label).slice(0, 7)) : print(label, by) || '–';
  const names = { title, measure: say(headingOf(measure.path)), label: say(headingOf(by.path)) };
  return {
    title: t('{title}: {measure} by {label}', names),
    labels: labels.map((label, index) =>
      hasRest && index === labels.length - 1 ? t('Others') : sayLabel(label),
    ),
    series: series.map(({ name, values }) => ({
      name: split ? print(name, split) || '–' : say(headingOf(areParts ? String(name) : measure.path)),
      values: values.map((value) => value ?? 0),
    })),
  };
}
