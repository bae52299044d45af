/** A tile of a dashboard: its title, its content, and a link to the whole of it. */
import type { DashboardTileInput } from '../../../generated/portal/dashboards/dashboards';
import { TILE_OPERATIONS } from '../../../generated/portal/tile-operations';
import { useViewer } from '../gateway/use-gateway';
import { TileCard, type TileCardProps, TileRefresher } from '../home/tile';
import { useReportWords, useTexts, useToday } from '../language/use-texts';
import { EmptyState } from '../shell/states';
import { TileBody } from './tile-body';
import type { TileOperation } from './tile-operation';
import { askedVariables, mayAsk, placeBehind, readVariables } from './tile-variables';
import { useTileAnswer } from './use-tile-answer';

export function findOperation({
  operation,
}: Pick<DashboardTileInput, 'operation'>): TileOperation | undefined {
  return TILE_OPERATIONS.find(({ name }) => name === operation);
}

/** The title of a tile, otherwise the translated title of its operation. */
export function useTitleOfTile(): (tile: DashboardTileInput) => string {
  const say = useReportWords();
  return (tile) => tile.title || say(findOperation(tile)?.title ?? tile.operation);
}

export interface DashboardTileProps extends Pick<TileCardProps, 'controls' | 'onDragOver' | 'onDrop'> {
  readonly tile: DashboardTileInput;
}

export function DashboardTile({ tile, ...owner }: DashboardTileProps) {
  const t = useTexts();
  const viewer = useViewer();
  const today = useToday();
  const operation = findOperation(tile);
  const variables = operation && readVariables(tile.variables, operation);
  const asked = variables && askedVariables(variables, today);
  const isMine = operation !== undefined && mayAsk(operation, viewer);
  const place = operation && asked && isMine ? placeBehind(operation, asked, viewer) : undefined;
  const title = useTitleOfTile()(tile);
  return (
    <TileCard title={title} isWide={tile.wide ?? false} place={place} {...owner}>
      {!operation && (
        <EmptyState icon="search" title={t('There is no such operation')}>
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
