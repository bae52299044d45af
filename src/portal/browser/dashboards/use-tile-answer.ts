import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type ResultTable, tablesOf } from '../../explore/result-tables';
import { useGateway } from '../gateway/use-gateway';
import type { TileOperation } from './tile-operation';
import { toFieldShape } from './tile-picture';
import type { TileVariables } from './tile-variables';

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

export interface AskedTile {
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
    ...(operation.source.kind === 'collection' && { refetchInterval: ASKED_EVERY_MS }),
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
