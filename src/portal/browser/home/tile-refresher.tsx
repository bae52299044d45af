import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { ReportHasChanged } from '../../../generated/portal/home/home';
import { useEvents } from '../gateway/use-operation';

export interface TileRefresherProps {
  /** What the key of the tile's query begins with. */
  readonly asked: string;
  /** The report it is of, by its field. */
  readonly report: string;
}

/** Has a tile asked anew when its report tells of a change. */
export function TileRefresher({ asked, report }: TileRefresherProps) {
  const queries = useQueryClient();
  const refresh = useCallback(() => void queries.invalidateQueries({ queryKey: [asked] }), [queries, asked]);
  useEvents(ReportHasChanged, { report }, refresh, refresh);
  return null;
}
