/** The parts of a tile of the home page or of a dashboard. */
import { Alert, Card, Group, Table, Text } from '@mantine/core';
import { type DragEvent, lazy, type ReactNode, Suspense } from 'react';
import { ReportHasChanged } from '../../../generated/portal/home/home';
import type { ChartCanvasProps } from '../charts/chart-canvas';
import { useAskAnew, useEvents, useOperation } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { type PortalOperation } from '../session/graphql-headers';
import type { IconName } from '../shell/icon';
import { Deferred, LazySection } from '../shell/lazy-sections';
import { Answered, EmptyState, LoadingState } from '../shell/states';
import { TextLink, type TextLinkProps } from '../shell/text-button';

export interface TileCardProps {
  readonly title: string;
  readonly isWide: boolean;
  /** The page with all rows, by the same filter. */
  readonly place?: Pick<TextLinkProps, 'to' | 'search' | 'hash'> | undefined;
  /** The controls of its owner, beside the title. */
  readonly controls?: ReactNode;
  readonly onDragOver?: (event: DragEvent) => void;
  readonly onDrop?: (event: DragEvent) => void;
  readonly children: ReactNode;
}

/** A tile: its title, a link to the whole of it, and its content when its turn has come. */
export function TileCard({ title, isWide, place, controls, children, ...drop }: TileCardProps) {
  return (
    <Card
      component="section"
      withBorder
      padding="md"
      className={isWide ? 'tile tile-wide' : 'tile'}
      aria-label={title}
      {...drop}
    >
      <Group justify="space-between" wrap="nowrap" mb="xs" align="center" gap="xs">
        <Text component="h2" fw={600} c="dimmed" className="tile-title">
          {title}
        </Text>
        <Group gap={4} wrap="nowrap" className="tile-controls no-print">
          {place && (
            <TextLink {...place} aria-label={t('Open: {title}', { title })}>
              {t('Open')}
            </TextLink>
          )}
          {controls}
        </Group>
      </Group>
      <LazySection before={<div className="tile-waiting" />}>{children}</LazySection>
    </Card>
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
  const askAnew = useAskAnew();
  const refresh = () => void askAnew([{ name: asked }]);
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

export function Figure({ value, note }: { readonly value: string; readonly note?: string }) {
  return (
    <div className="figure">
      <Text component="span" className="figure-value" size="md">
        {value}
      </Text>
      {note !== undefined && (
        <Text component="span" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  );
}

/** Bars for a few amounts, each with its name and its value. */
interface BarListProps {
  /** The name of the measure, for screen readers. */
  readonly title: string;
  readonly parts: readonly { readonly name: string; readonly value: number; readonly text: string }[];
}

function BarList({ title, parts }: BarListProps) {
  const whole = parts.reduce((sum, { value }) => sum + Math.max(value, 0), 0);
  return (
    <ul className="plain-list bar-list" aria-label={title}>
      {parts.map(({ name, value, text }) => (
        <li key={name}>
          <span className="bar-name">{name}</span>
          <span className="bar-text">{text}</span>
          <span className="bar-track" aria-hidden="true">
            <span style={{ width: `${whole === 0 ? 0 : (Math.max(value, 0) / whole) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** An operation of one day, and the page that shows all of its answer. */
export interface DaySource<Result, Variables> {
  readonly operation: PortalOperation<Result, Variables>;
  readonly variables: Variables;
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
  /** The report of the operation, by its field. Tiles are reloaded when it changes. */
  readonly report?: string;
}

/** The content of a tile, from top to bottom. */
export interface ShownTile {
  readonly notice?: string | undefined;
  readonly empty?: readonly [IconName, title: string];
  readonly figure?: readonly [value: string, note: string];
  readonly bars?: BarListProps['parts'];
  readonly rows?: readonly (readonly [key: string, name: ReactNode, end?: ReactNode])[];
  readonly chart?: Omit<ChartCanvasProps, 'height' | 'title' | 'unit'> & Partial<ChartCanvasProps>;
}

interface DayTileProps<Result, Variables> {
  readonly of: DaySource<Result, Variables>;
  readonly title: string;
  readonly isWide?: boolean;
  show(result: Result): ShownTile;
}

/** The properties of a component that renders nothing for viewers without its source. */
export type Sourced<Props extends { readonly of: unknown }> = Omit<Props, 'of'> & {
  readonly of: Props['of'] | undefined;
};

export function DayTile<Result, Variables>({ of, ...props }: Sourced<DayTileProps<Result, Variables>>) {
  if (!of) return null;
  return (
    <TileCard title={props.title} isWide={props.isWide === true} place={{ to: of.to, search: of.search }}>
      <TileAnswer of={of} {...props} />
      {of.report !== undefined && <TileRefresher asked={of.operation.name} report={of.report} />}
    </TileCard>
  );
}

function TileAnswer<Result, Variables>({ of, title, show }: DayTileProps<Result, Variables>) {
  return (
    <Answered of={useOperation(of.operation, of.variables, { keepsPrevious: true })} rows={5}>
      {(result) => (
        <Deferred before={<LoadingState rows={5} />}>
          <ShownParts title={title} {...show(result)} />
        </Deferred>
      )}
    </Answered>
  );
}

function ShownParts({
  title,
  notice,
  empty,
  figure,
  bars,
  rows,
  chart,
}: ShownTile & { readonly title: string }) {
  // A series of zeros would only appear in the legend.
  const shownSeries = chart?.series.filter(({ values }, _, all) => all.length === 1 || values.some(Boolean));
  return (
    <>
      {empty && <EmptyState icon={empty[0]} title={empty[1]} />}
      {notice && (
        <Alert role="note" variant="light" p="xs" mb="xs">
          {notice}
        </Alert>
      )}
      {figure && <Figure value={figure[0]} note={figure[1]} />}
      {bars && <BarList title={title} parts={bars} />}
      {rows && (
        <Table fz="sm" verticalSpacing={4} aria-label={title}>
          <Table.Tbody>
            {rows.map(([key, name, end]) => (
              <Table.Tr key={key}>
                <Table.Td>{name}</Table.Td>
                {end !== undefined && <Table.Td className="numeric one-line">{end}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {chart && <TileChart title={title} unit="number" {...chart} series={shownSeries ?? []} />}
    </>
  );
}
