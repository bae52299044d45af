/** A tile of a dashboard: its title, its content, and a link to the whole of it. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { DashboardTileInput } from '../../../generated/portal/dashboards/dashboards';
import { TILE_OPERATIONS } from '../../../generated/portal/tile-operations';
import { headingOfPath, isNumericKind } from '../../explore/cell-printer';
import { fillVariables } from '../../explore/example-operation';
import { type ResultCell, type ResultColumn, type ResultTable, tablesOf } from '../../explore/result-tables';
import { sayPoints } from '../charts/say-points';
import { useGateway, useViewer } from '../gateway/use-gateway';
import { Figure, TileCard, type TileCardProps, TileChart, TileRefresher } from '../home/tile';
import { nameOfEnumValue } from '../language/name-of-field';
import { formats, say, t, useToday } from '../language/texts';
import { ListTable } from '../shell/list-table';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import {
  mayAsk,
  operationOfQuery,
  placeBehind,
  readVariables,
  type TileOperation,
  type TileVariables,
} from './tile-operation';
import {
  isEnumColumn,
  numberOfTile,
  pointsOfTile,
  rowsInOrder,
  type TileChoice,
  tableOfTile,
  toFieldShape,
  unitOf,
} from './tile-picture';

export function findOperation({
  operation,
  document,
}: Pick<DashboardTileInput, 'operation' | 'document'>): TileOperation | undefined {
  if (document) return operationOfQuery(operation, document);
  return TILE_OPERATIONS.find(({ name }) => name === operation);
}

/** The title of a tile, otherwise the translated title of its operation. */
export function titleOfTile(tile: DashboardTileInput): string {
  return tile.title || say(findOperation(tile)?.title ?? tile.operation);
}

interface DashboardTileProps extends Pick<TileCardProps, 'controls' | 'onDragOver' | 'onDrop'> {
  readonly tile: DashboardTileInput;
}

export function DashboardTile({ tile, ...owner }: DashboardTileProps) {
  const viewer = useViewer();
  const today = useToday();
  const operation = findOperation(tile);
  const variables = operation && readVariables(tile.variables, operation);
  const asked = variables && fillVariables(variables, today);
  const isMine = operation !== undefined && mayAsk(operation, viewer);
  const place = operation && asked && isMine ? placeBehind(operation, asked, viewer) : undefined;
  const title = titleOfTile(tile);
  return (
    <TileCard title={title} isWide={tile.wide ?? false} place={place} {...owner}>
      {!operation && (
        <EmptyState icon="search" title={t('This operation does not exist')}>
          {t('The library has none called {name}.', { name: tile.operation })}
        </EmptyState>
      )}
      {operation && !isMine && <EmptyState icon="lock" title={t('Your role cannot see this')} />}
      {operation && isMine && !asked && (
        <EmptyState icon="warning" title={t('The variables of this tile are not a JSON object')} />
      )}
      {operation && isMine && asked && (
        <AskedBody tile={tile} title={title} operation={operation} asked={asked} />
      )}
    </TileCard>
  );
}

interface AskedBodyProps {
  readonly tile: DashboardTileInput;
  readonly title: string;
  readonly operation: TileOperation;
  readonly asked: Readonly<Record<string, unknown>>;
}

function AskedBody({ tile, title, operation, asked }: AskedBodyProps) {
  const answer = useTileAnswer({ operation, asked, isEnabled: true });
  const { source } = operation;
  return (
    <>
      <TileBody title={title} operation={operation} choice={tile} answer={answer} />
      {source.kind === 'report' && <TileRefresher asked={operation.name} report={source.field} />}
    </>
  );
}

interface TileBodyProps {
  readonly title: string;
  readonly operation: TileOperation;
  readonly choice: TileChoice;
  readonly answer: TileAnswer;
}

export function TileBody({ title, operation, choice, answer }: TileBodyProps) {
  const { tables, currency, error, retry } = answer;
  if (error) return <ProblemState problem={error} retry={retry} />;
  if (!tables) return <LoadingState rows={5} />;
  const table = tableOfTile(tables, choice);
  if (!table || table.rows.length === 0) return <EmptyState icon="chart" title={t('Nothing to show yet')} />;
  const shown = { title, operation, choice, table, currency };
  if (choice.picture === 'NUMBER') return <NumberPicture {...shown} />;
  return choice.picture === 'TABLE' ? <TablePicture {...shown} /> : <ChartPicture {...shown} />;
}

interface PictureProps extends Omit<TileBodyProps, 'answer'> {
  readonly table: ResultTable;
  readonly currency: string | undefined;
}

function NumberPicture({ operation, choice, table, currency }: PictureProps) {
  const number = numberOfTile(table, choice.measure);
  if (!number) return <EmptyState icon="chart" title={t('This part of the answer has no numbers')} />;
  const print = createPrinter(operation, currency);
  return (
    <div className="tile-number">
      <Figure value={print(number.value, number.column)} note={say(headingOfPath(number.column.path))} />
    </div>
  );
}

const MOST_ROWS = 50;

function TablePicture({ title, operation, table, currency }: PictureProps) {
  const print = createPrinter(operation, currency);
  const left = table.rows.length - MOST_ROWS;
  const scroller = useRef<HTMLDivElement>(null);
  const beside = useColumnsBeside(scroller);
  const classOf = ({ kind }: ResultColumn) => {
    if (isNumericKind(kind)) return 'numeric one-line';
    return ['day', 'month', 'instant'].includes(kind) ? 'one-line' : undefined;
  };
  return (
    <>
      <ListTable<ResultTable['rows'][number]>
        label={title}
        scroller={scroller}
        scrollClass="tile-table"
        className=""
        verticalSpacing={4}
        horizontalSpacing={6}
        stickyHeader
        rows={rowsInOrder(table).slice(0, MOST_ROWS)}
        keyOf={(_row, index) => String(index)}
        columns={table.columns.map((column, at) => [
          say(headingOfPath(column.path)),
          (row) => print(row[at] ?? null, column),
          classOf(column),
        ])}
      />
      {beside > 0 && (
        <p className="dimmed tile-note no-print">
          {t('{count, plural, one {# more column} other {# more columns}} to the right', { count: beside })} →
        </p>
      )}
      {left > 0 && (
        <p className="dimmed tile-note">
          {t('{count, plural, one {# more row} other {# more rows}}', { count: left })}
        </p>
      )}
    </>
  );
}

/** A column counts as shown although a few pixels of it, such as its padding, are not. */
const HARDLY_HIDDEN_PX = 8;

/** The number of columns of a table that are not in sight until it is scrolled sideways. */
function useColumnsBeside(scroller: RefObject<HTMLElement | null>): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const { current } = scroller;
    const table = current?.querySelector('table');
    if (!current || !table) return undefined;
    const measure = () => {
      const edge = current.scrollLeft + current.clientWidth + HARDLY_HIDDEN_PX;
      const heads = [...table.querySelectorAll('th')];
      setCount(heads.filter(({ offsetLeft, offsetWidth }) => offsetLeft + offsetWidth > edge).length);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    observer.observe(table);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [scroller]);
  return count;
}

const KINDS = { BAR: 'bar', LINE: 'line', DOUGHNUT: 'doughnut' } as const;

function ChartPicture({ title, operation, choice, table, currency }: PictureProps) {
  const points = pointsOfTile(table, choice);
  const kind = choice.picture === 'LINE' || choice.picture === 'DOUGHNUT' ? choice.picture : 'BAR';
  if (!points) return <EmptyState icon="chart" title={t('This part of the answer has no numbers')} />;
  const print = createPrinter(operation, currency);
  return (
    <TileChart
      kind={kind === 'BAR' && points.series.length > 1 ? 'stackedBar' : KINDS[kind]}
      {...sayPoints(points, title, { print, headingOf: headingOfPath })}
      unit={unitOf(operation, points.measure)}
      currency={currency}
    />
  );
}

function createPrinter(operation: TileOperation, currency: string | undefined) {
  return (cell: ResultCell, column: ResultColumn): string => {
    if (cell === null || cell === '') return '';
    if (typeof cell === 'boolean') return cell ? t('yes') : t('no');
    switch (column.kind) {
      case 'number':
      case 'decimal': {
        const unit = unitOf(operation, column);
        if (unit === 'money') return formats.money(cell, currency);
        return unit === 'percent' ? formats.percent(cell) : formats.number(cell);
      }
      case 'day':
        return formats.day(String(cell));
      case 'month':
        return formats.month(String(cell));
      case 'instant':
        return formats.instant(String(cell));
      default:
        return isEnumColumn(operation, column) ? say(nameOfEnumValue(String(cell))) : String(cell);
    }
  };
}

/**
 * An operation without a report that announces changes is repeated at this interval while the tile is
 * visible.
 */
const ASKED_EVERY_MS = 60_000;

export interface TileAnswer {
  /** Absent until the answer arrives. */
  readonly tables?: readonly ResultTable[];
  readonly currency?: string;
  readonly error: Error | null;
  retry(): void;
}

interface AskedTile {
  readonly operation: TileOperation;
  readonly asked: TileVariables;
  readonly isEnabled: boolean;
}

/** The answer to the operation of a tile, as tables. */
export function useTileAnswer({ operation, asked, isEnabled }: AskedTile): TileAnswer {
  const gateway = useGateway();
  const { data, error, refetch } = useQuery({
    queryKey: [operation.name, asked],
    queryFn: ({ signal }) =>
      gateway.executeText<Readonly<Record<string, unknown>>>(operation.document, asked, { signal }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    ...(operation.source.kind !== 'report' && { refetchInterval: ASKED_EVERY_MS }),
  });
  const tables = useMemo(
    () => (data === undefined ? undefined : tablesOf(data, toFieldShape(operation.shape))),
    [data, operation],
  );
  const currency = data === undefined ? undefined : currencyOf(Object.values(data)[0]);
  return {
    error,
    retry: () => void refetch(),
    ...(tables !== undefined && { tables }),
    ...(currency !== undefined && { currency }),
  };
}

/** A report names the currency of its money. */
function currencyOf(answer: unknown): string | undefined {
  const isReport = typeof answer === 'object' && answer !== null && 'currency' in answer;
  return isReport && typeof answer.currency === 'string' ? answer.currency : undefined;
}
