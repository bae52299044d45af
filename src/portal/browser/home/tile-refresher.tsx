import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { ReportHasChanged } from '../../../generated/portal/home/home';
import { useEvents } from '../gateway/use-operation';

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
