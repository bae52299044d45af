/** A tile of a dashboard: its title, its content, and a link to the whole of it. */
import { Anchor, Card, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { DragEvent, ReactNode } from 'react';
import type { DashboardTileInput } from '../../../generated/portal/dashboards/dashboards';
import { TILE_OPERATIONS } from '../../../generated/portal/tile-operations';
import { useViewer } from '../gateway/use-gateway';
import { TileRefresher } from '../home/tile';
import { useReportWords, useTexts, useToday } from '../language/use-texts';
import { InTurn } from '../shell/in-turns';
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

export interface DashboardTileProps {
  readonly tile: DashboardTileInput;
  /** The controls of its owner, beside the title. */
  readonly controls?: ReactNode;
  readonly onDragOver?: (event: DragEvent) => void;
  readonly onDrop?: (event: DragEvent) => void;
}

export function DashboardTile({ tile, controls, onDragOver, onDrop }: DashboardTileProps) {
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
    <Card
      component="section"
      withBorder
      padding="md"
      className={tile.wide ? 'tile tile-wide' : 'tile'}
      aria-label={title}
      onDragOver={onDragOver}
      onDrop={onDrop}
    >
      <Group justify="space-between" wrap="nowrap" mb="xs" align="center" gap="xs">
        <Text component="h2" fw={600} size="sm" c="dimmed" className="tile-title">
          {title}
        </Text>
        <Group gap={4} wrap="nowrap" className="tile-controls no-print">
          {place && (
            <Anchor
              component={Link}
              to={place.to}
              search={place.search as never}
              size="sm"
              aria-label={t('Open: {title}', { title })}
            >
              {t('Open')}
            </Anchor>
          )}
          {controls}
        </Group>
      </Group>
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
        <InTurn before={<div className="tile-waiting" />}>
          <AskedBody tile={tile} title={title} operation={operation} asked={asked} />
        </InTurn>
      )}
    </Card>
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
