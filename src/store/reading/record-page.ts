/** The environment for reading records, and a page of them. */

import type { RecordQuery } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import type { EffectiveAccess, FindReadable } from '../access/access.js';
import type { ResolvedFilter } from '../access/resolved-filter.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import type { Queryable } from '../database/queryable.js';
import type { CompileContext } from '../sql/compile-filter.js';
import type { BatchedReads } from './batched-reads.js';
import type { Extent } from './collection-sizes.js';
import type { QueryPlans } from './query-plans.js';
import type { StatementCache } from './statement-cache.js';
import { type StoredRecord, type StoredRow, toStoredRecord } from './stored-record.js';

export interface RecordPage {
  readonly records: readonly StoredRecord[];
  /** The cursors of the records, for `after` and `before`. */
  readonly cursors: readonly string[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** A row for each record of a page in reading order, and one more if more follow. */
export type PageRow = StoredRow & { readonly cursor: string };

export function toRecordPage(
  rows: readonly PageRow[],
  {
    limit = rows.length,
    fromEnd,
    hasMoreBehind,
  }: { readonly limit?: number | undefined; readonly fromEnd: boolean; readonly hasMoreBehind: boolean },
): RecordPage {
  const shown = rows.slice(0, limit);
  const hasMoreAhead = rows.length > shown.length;
  if (fromEnd) shown.reverse();
  return {
    records: shown.map(toStoredRecord),
    cursors: shown.map((row) => row.cursor),
    hasNextPage: fromEnd ? hasMoreBehind : hasMoreAhead,
    hasPreviousPage: fromEnd ? hasMoreAhead : hasMoreBehind,
  };
}

export interface RecordSetOptions {
  /** For lists, which a replica may serve. */
  readonly database: Pick<Database, 'query' | 'streamJoined'>;
  /** For reads that must see everything committed. */
  readonly primary: Pick<Database, 'query' | 'streamJoined'>;
  readonly scope: Scope;
  readonly query: RecordQuery;
  /** The filter of the query, with its paths checked against `access`. */
  readonly filter: ResolvedFilter;
  readonly access: EffectiveAccess;
  readonly context: CompileContext;
  readonly catalog: Catalog;
  readonly plans: QueryPlans;
  readonly statementCache: StatementCache;
  readonly batchedReads: Pick<BatchedReads, 'read'>;
  /** The transaction to read in. */
  readonly within: Queryable | undefined;
  /** @see ReadIdentity */
  readonly revision: object;
  readonly findReadable: FindReadable;
  /** @see RecordEnvironment.scan */
  readonly scan: (query: RecordQuery, extent: Extent, times?: number) => number;
}
