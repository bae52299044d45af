/** A read of one collection as a plain value: what the three front ends agree on. */
import type { Filter } from './filter.js';
import type { Path } from './path.js';

export interface SortKey {
  readonly path: Path;
  readonly direction: 'ascending' | 'descending';
}

export interface RecordQuery {
  readonly collection: string;
  readonly filter: Filter;
  /** Ties are broken by `_id`, so an order is always total. Empty: by `_id`. */
  readonly sort: readonly SortKey[];
  /** Field paths to return in addition to `_id`; `undefined`: the whole record. */
  readonly projection: readonly Path[] | undefined;
  /** `undefined`: to the end. */
  readonly limit: number | undefined;
  readonly skip: number;
  /** A cursor: only what comes after it (or before it, read backwards) in the order. */
  readonly after: string | undefined;
  readonly before: string | undefined;
  /** The last `limit` records instead of the first, still in the order. */
  readonly fromEnd: boolean;
}

/** A query of the whole collection, to be narrowed with a spread. */
export function queryOf(collection: string): RecordQuery {
  return {
    collection,
    filter: { kind: 'all', filters: [] },
    sort: [],
    projection: undefined,
    limit: undefined,
    skip: 0,
    after: undefined,
    before: undefined,
    fromEnd: false,
  };
}
