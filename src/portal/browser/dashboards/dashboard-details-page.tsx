/** A dashboard: its tiles in the order of its owner, on screen, on paper and on a wall. */

import { Alert, Group, Text } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import {
  ChangeDashboard,
  DashboardsOfPortal,
  type DashboardTileInput,
  DashboardTiles,
  type DashboardTilesQuery,
  RemoveDashboard,
  type UpdateDashboardInput,
} from '../../../generated/portal/dashboards/dashboards';
import { operationOfHash } from '../../explore/shared-operation';
import { useChange, useOperation, useRights, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import { ChangeDialog, notice, savedOver } from '../shell/confirm-dialog';
import { Deferred, LazySections, usePrintWhole } from '../shell/lazy-sections';
import { EmptyState, LoadingState, lazyPart, NotFoundState, PageFrame, ProblemState } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';
import { DashboardTile, titleOfTile } from './dashboard-tile';
import { DashboardDialog } from './dashboards-page';
import { moveTile } from './tile-operation';

const TileForm = lazyPart(async () => (await import('./tile-form')).TileForm);

type StoredDashboard = DashboardTilesQuery['dashboard'];

export function DashboardDetailsPage() {
  const { dashboard: id = '' } = useParams({ strict: false }) as { readonly dashboard?: string };
  const { data, error, refetch } = useOperation(DashboardTiles, { id });
  // It was removed, never existed, or is not shared with the viewer.
  if (['NOT_FOUND', 'GONE'].includes(codeOf(error) ?? ''))
    return <NotFoundState above={[{ label: t('Dashboards'), to: '/portal/dashboards' }]} />;
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <Deferred key={id} before={<LoadingState />}>
      <LazySections>
        <ShownDashboard dashboard={data.dashboard} onOutdated={() => void refetch()} />
      </LazySections>
    </Deferred>
  );
}

interface ShownDashboardProps {
  readonly dashboard: StoredDashboard;
  onOutdated(): void;
}

interface OpenDialog {
  readonly kind: 'none' | 'removal' | 'settings' | 'newTile' | 'tile';
  /** The dashboard as it was when the dialog was opened. */
  readonly begun?: StoredDashboard;
  readonly tile?: DashboardTileInput;
}

/** The tile that was removed last, and its place. It can be restored while the page is open. */
interface RemovedTile {
  readonly tile: DashboardTileInput;
  readonly index: number;
}

function ShownDashboard({ dashboard, onOutdated }: ShownDashboardProps) {
  const viewer = useViewer();
  const navigate = useNavigate();
  const print = usePrintWhole();
  const wall = useRef<HTMLDivElement>(null);
  const mayChange = useRights('dashboard')?.canUpdate === true && dashboard.owner?.id === viewer.id;
  const [dialog, setDialog] = useState<OpenDialog>(() => {
    const tile = mayChange ? tileOfAddress() : undefined;
    return tile ? { kind: 'newTile', begun: dashboard, tile } : { kind: 'none' };
  });
  const [removed, setRemoved] = useState<RemovedTile>();
  /** The order of a move made while the previous one is being saved. */
  const [waiting, setWaiting] = useState<readonly DashboardTileInput[]>();
  const change = useChange(ChangeDashboard, [DashboardTiles, DashboardsOfPortal]);
  const { id, version, owner } = dashboard;
  const title = dashboard.title ?? id;
  const stored = (dashboard.tiles ?? []).map(toTile);
  // An order that is being saved is shown already, so that a tile stays where it was dropped.
  const tiles: readonly DashboardTileInput[] =
    waiting ?? (change.isPending ? change.variables.data.tiles : undefined) ?? stored;
  const close = () => {
    setDialog({ kind: 'none' });
    change.reset();
    if (location.hash !== '') void navigate({ to: '.', hash: '', replace: true });
  };
  const { begun = dashboard } = dialog;
  const { over, theirs } = savedOver(begun, dashboard, change.error);
  const save = (data: UpdateDashboardInput) =>
    change.mutate({ id, version: over.version, data }, { onSuccess: close });
  const saveTiles = (next: readonly DashboardTileInput[]) => {
    if (change.isPending) setWaiting(next);
    else save({ tiles: next });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is saved once what was saved before is there.
  useEffect(() => {
    if (!waiting || change.isPending) return;
    setWaiting(undefined);
    // A move that failed is reported. The moves based on it would fail as well.
    if (!change.error) save({ tiles: waiting });
  }, [waiting, change.isPending]);
  const putBack = ({ tile, index }: RemovedTile) => {
    setRemoved(undefined);
    saveTiles(tiles.toSpliced(index, 0, tile));
  };
  return (
    <PageFrame
      title={title}
      above={[{ label: t('Dashboards'), to: '/portal/dashboards' }]}
      description={owner?.id === viewer.id ? undefined : t('By {name}', { name: owner?.label ?? '' })}
      actions={
        <>
          {mayChange && (
            <TextButton
              label={t('Add a tile')}
              isMain
              icon="plus"
              onClick={() => setDialog({ kind: 'newTile', begun: dashboard })}
            />
          )}
          {tiles.length > 0 && (
            <>
              <TextButton
                label={t('Full screen')}
                icon="screen"
                onClick={() => void wall.current?.requestFullscreen()}
              />
              <TextButton label={t('Print')} icon="print" onClick={print} />
            </>
          )}
          {mayChange && (
            <>
              <TextButton
                label={t('Title and sharing')}
                icon="settings"
                onClick={() => setDialog({ kind: 'settings', begun: dashboard })}
              />
              <IconButton
                icon="trash"
                label={t('Remove the dashboard')}
                size="input-sm"
                variant="default"
                onClick={() => setDialog({ kind: 'removal' })}
              />
            </>
          )}
        </>
      }
    >
      {change.error && dialog.kind === 'none' && (
        <ProblemState
          problem={change.error}
          retry={() => {
            change.reset();
            onOutdated();
          }}
        />
      )}
      {removed && (
        <Alert variant="light" p="xs" mb="md" className="no-print" role="status">
          <Group gap="sm">
            {t('{title} is removed', { title: titleOfTile(removed.tile) })}
            <TextButton label={t('Undo')} size="compact-sm" onClick={() => putBack(removed)} />
          </Group>
        </Alert>
      )}
      {tiles.length === 0 && (
        <EmptyState icon="board" title={t('This dashboard has no tiles yet')}>
          {mayChange && t('Add one: choose what to show, and how.')}
        </EmptyState>
      )}
      <div ref={wall} className="wall">
        <Text className="wall-title" aria-hidden="true" size="md">
          {title}
        </Text>
        <TileGrid
          tiles={tiles}
          {...(mayChange && {
            onMove: (from: number, to: number) => saveTiles(moveTile(tiles, from, to)),
            onEdit: (index: number) => {
              const tile = tiles[index];
              if (tile) setDialog({ kind: 'tile', begun: dashboard, tile });
            },
            onRemove: (index: number) => {
              const tile = tiles[index];
              if (!tile || change.isPending) return;
              const data = { tiles: tiles.toSpliced(index, 1) };
              change.mutate({ id, version, data }, { onSuccess: () => setRemoved({ tile, index }) });
            },
          })}
        />
      </div>
      {(dialog.kind === 'newTile' || dialog.kind === 'tile') && (
        <TileForm
          isNew={dialog.kind === 'newTile'}
          tile={dialog.tile}
          of={change}
          theirs={theirs && { id, tiles: (theirs.tiles ?? []).map((one) => titleOfTile(toTile(one))) }}
          onClose={close}
          onSave={(tile) => {
            const replaced = dialog.kind === 'tile' ? dialog.tile : undefined;
            saveTiles(withTile((over.tiles ?? []).map(toTile), { tile, replaced }));
          }}
        />
      )}
      {dialog.kind === 'settings' && (
        <DashboardDialog
          heading={t('Title and sharing')}
          action={t('Save')}
          values={{ title: begun.title ?? id, sharedWith: begun.sharedWith ?? [] }}
          of={change}
          theirs={theirs && { id, title: theirs.title ?? id, sharedWith: theirs.sharedWith ?? [] }}
          onClose={close}
          onSave={(values) => save({ title: values.title, sharedWith: values.sharedWith })}
        />
      )}
      {dialog.kind === 'removal' && (
        <ChangeDialog
          title={t('Remove the dashboard')}
          action={t('Remove')}
          isDangerous
          change={RemoveDashboard}
          variables={{ id, version }}
          outdated={[DashboardsOfPortal]}
          onClose={close}
          onDone={() => {
            notice(t('{title} is removed', { title }));
            void navigate({ to: '/portal/dashboards' });
          }}
        >
          {t('No one will see {title} any more. You can restore it from its history.', { title })}
        </ChangeDialog>
      )}
    </PageFrame>
  );
}

/** The query that the explorer put into the address, as a tile. */
function tileOfAddress(): DashboardTileInput | undefined {
  const shared = operationOfHash(location.hash);
  if (!shared) return undefined;
  const [, name] = /^\s*query\s+(\w+)/m.exec(shared.query) ?? [];
  return {
    operation: name ?? 'query',
    document: shared.query,
    variables: shared.variables,
    picture: 'TABLE',
  };
}

/** Members that another client left out are empty, as in the form. */
function toTile(tile: NonNullable<StoredDashboard['tiles']>[number]): DashboardTileInput {
  return { ...tile, operation: tile.operation ?? '', picture: tile.picture ?? 'TABLE' };
}

/**
 * Replaces the tile. A new tile is added at the end, as is one that somebody else removed in the meantime.
 */
function withTile(
  tiles: readonly DashboardTileInput[],
  {
    tile,
    replaced,
  }: { readonly tile: DashboardTileInput; readonly replaced: DashboardTileInput | undefined },
): readonly DashboardTileInput[] {
  const index = tiles.findIndex((one) => JSON.stringify(one) === JSON.stringify(replaced));
  return index === -1 ? [...tiles, tile] : tiles.with(index, tile);
}

interface TileGridProps {
  readonly tiles: readonly DashboardTileInput[];
  /** Absent if the viewer may not change the dashboard. */
  readonly onMove?: (from: number, to: number) => void;
  readonly onEdit?: (index: number) => void;
  readonly onRemove?: (index: number) => void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

function TileGrid({ tiles, onMove, onEdit, onRemove }: TileGridProps) {
  const [dragged, setDragged] = useState<number>();
  const grid = useRef<HTMLDivElement>(null);
  const focused = useRef<number>(undefined);
  const [said, setSaid] = useState('');
  const keys = keysOf(tiles);
  const order = keys.join();
  // The browser removes the focus from an element that moves in the document.
  // biome-ignore lint/correctness/useExhaustiveDependencies: done when the tiles stand in another order.
  useEffect(() => {
    if (focused.current === undefined) return;
    const handles = grid.current?.querySelectorAll<HTMLElement>('.tile-handle');
    handles?.[focused.current]?.focus();
    focused.current = undefined;
  }, [order]);
  const move = (from: number, to: number) => {
    const tile = tiles[from];
    if (!tile || to < 0 || to >= tiles.length || from === to) return;
    focused.current = to;
    const place = { title: titleOfTile(tile), place: to + 1, count: tiles.length };
    setSaid(t('{title} is now at place {place} of {count}', place));
    onMove?.(from, to);
  };
  return (
    <>
      <output className="visually-hidden">{said}</output>
      <div className="dashboard" ref={grid}>
        {tiles.map((tile, index) => (
          <DashboardTile
            key={keys[index]}
            tile={tile}
            {...(onMove && {
              onDragOver: (event: DragEvent) => dragged !== undefined && event.preventDefault(),
              onDrop: (event: DragEvent) => {
                event.preventDefault();
                if (dragged !== undefined) move(dragged, index);
                setDragged(undefined);
              },
              controls: (
                <TileControls
                  title={titleOfTile(tile)}
                  onKey={(event) => {
                    const step = STEPS[event.key];
                    if (step === undefined) return;
                    event.preventDefault();
                    move(index, index + step);
                  }}
                  onDrag={(isDragged) => setDragged(isDragged ? index : undefined)}
                  onEdit={() => onEdit?.(index)}
                  onRemove={() => onRemove?.(index)}
                />
              ),
            })}
          />
        ))}
      </div>
    </>
  );
}

interface TileControlsProps {
  readonly title: string;
  readonly onKey: (event: KeyboardEvent) => void;
  readonly onDrag: (isDragged: boolean) => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function TileControls({ title, onKey, onDrag, onEdit, onRemove }: TileControlsProps) {
  const look = { variant: 'subtle', color: 'gray' };
  return (
    <>
      <IconButton
        {...look}
        icon="grip"
        label={t('Move: {title}', { title })}
        iconSize={16}
        className="tile-handle"
        draggable
        onDragStart={(event) => {
          // Firefox does not drag an element without data.
          event.dataTransfer.setData('text/plain', title);
          event.dataTransfer.effectAllowed = 'move';
          onDrag(true);
        }}
        onDragEnd={() => onDrag(false)}
        onKeyDown={onKey}
        title={t('Drag, or use the arrow keys')}
      />
      <IconButton
        {...look}
        icon="settings"
        label={t('Change: {title}', { title })}
        iconSize={16}
        onClick={onEdit}
      />
      <IconButton
        {...look}
        icon="trash"
        label={t('Remove: {title}', { title })}
        iconSize={16}
        onClick={onRemove}
      />
    </>
  );
}

/** A key for each tile that stays the same when it moves: its content, numbered among equal ones. */
function keysOf(tiles: readonly DashboardTileInput[]): readonly string[] {
  const seen = new Map<string, number>();
  return tiles.map((tile) => {
    const said = JSON.stringify(tile);
    const number = (seen.get(said) ?? 0) + 1;
    seen.set(said, number);
    return `${number} ${said}`;
  });
}
