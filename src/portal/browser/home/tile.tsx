/** A tile of the home page: a figure or a chart of one operation, and a link to the whole of it. */
import { Anchor, Card, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useCallback } from 'react';
import { ReportHasChanged } from '../../../generated/portal/home/home';
import type { ChartCanvasProps } from '../charts/chart-canvas';
import { useEvents, useOperation } from '../gateway/use-gateway';
import { dayBefore } from '../language/days';
import { useTexts } from '../language/use-texts';
import type { PortalOperation } from '../session/graphql-headers';
import { InSteps, InTurn } from '../shell/in-turns';
import { LoadingState, ProblemState } from '../shell/states';

export interface TileProps<Result, Variables> {
  readonly title: string;
  readonly operation: PortalOperation<Result, Variables>;
  readonly variables: Variables;
  /** The report of the operation, by its field. The tile is reloaded when the report changes. */
  readonly report?: string;
  /** The page with all rows, by the same filter. */
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly isWide?: boolean;
  readonly show: (result: Result) => ReactNode;
}

export interface DayTileProps {
  readonly day: string;
  /** The name of the report, for its address. */
  readonly report: string;
}

/** The records of the leave tile and figure: the requests made by the end of the day that are not decided. */
export function leaveToDecide(day: string): Readonly<Record<string, string>> {
  return { oquery: `status=pending,created_on=<${dayBefore(day, -1)}`, sort: '-from' };
}

export function Tile<Result, Variables>(props: TileProps<Result, Variables>) {
  const { title, to, search = {}, isWide = false } = props;
  const t = useTexts();
  return (
    <Card
      component="section"
      withBorder
      padding="md"
      className={isWide ? 'tile tile-wide' : 'tile'}
      aria-label={title}
    >
      <Group justify="space-between" wrap="nowrap" mb="xs" align="baseline">
        <Text component="h2" fw={600} size="sm" c="dimmed">
          {title}
        </Text>
        <Anchor
          component={Link}
          to={to}
          search={search as never}
          size="sm"
          aria-label={t('Open: {title}', { title })}
          className="no-print"
        >
          {t('Open')}
        </Anchor>
      </Group>
      <InTurn before={<div className="tile-waiting" />}>
        <TileAnswer {...props} />
      </InTurn>
    </Card>
  );
}

function TileAnswer<Result, Variables>({ operation, variables, report, show }: TileProps<Result, Variables>) {
  const { data, error, refetch } = useOperation(operation, variables, { keepsPrevious: true });
  return (
    <>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && data === undefined && <LoadingState rows={5} />}
      {data !== undefined && <InSteps before={<LoadingState rows={5} />}>{show(data)}</InSteps>}
      {report !== undefined && <TileRefresher asked={operation.name} report={report} />}
    </>
  );
}

export interface TileRefresherProps {
  /** The first part of the query key of the tile. */
  readonly asked: string;
  /** The report of the tile, by its field. */
  readonly report: string;
}

/** Reloads a tile when its report announces a change. */
export function TileRefresher({ asked, report }: TileRefresherProps) {
  const queries = useQueryClient();
  const refresh = useCallback(() => void queries.invalidateQueries({ queryKey: [asked] }), [queries, asked]);
  useEvents(ReportHasChanged, { report }, refresh, refresh);
  return null;
}

const LazyChart = lazy(async () => ({ default: (await import('../charts/chart-canvas')).ChartCanvas }));

const CHART_HEIGHT = 200;

/** A chart within a tile. It has the same height while it is loaded, so that the layout does not shift. */
export function TileChart(props: Omit<ChartCanvasProps, 'height'>) {
  return (
    <Suspense fallback={<div style={{ height: CHART_HEIGHT }} />}>
      <LazyChart {...props} height={CHART_HEIGHT} />
    </Suspense>
  );
}

export interface FigureProps {
  readonly value: string;
  readonly note?: string;
}

export function Figure({ value, note }: FigureProps) {
  return (
    <div className="figure">
      <Text component="span" className="figure-value">
        {value}
      </Text>
      {note !== undefined && (
        <Text component="span" size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  );
}

/** Amounts beside each other, each with its name and its value: what a handful of parts come to. */
export interface BarListProps {
  /** The name of the measure, for screen readers. */
  readonly title: string;
  readonly parts: readonly { readonly name: string; readonly value: number; readonly text: string }[];
}

export function BarList({ title, parts }: BarListProps) {
  const largest = Math.max(...parts.map(({ value }) => value), 0);
  return (
    <ul className="plain-list bar-list" aria-label={title}>
      {parts.map(({ name, value, text }) => (
        <li key={name}>
          <span className="bar-name">{name}</span>
          <span className="bar-text">{text}</span>
          <span className="bar-track" aria-hidden="true">
            <span style={{ width: `${largest === 0 ? 0 : (Math.max(value, 0) / largest) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}
