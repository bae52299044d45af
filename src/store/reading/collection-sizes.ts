/**
 * How many records a read goes through: all of them if no index finds those that it needs, and those it finds
 * if it counts or sorts them. They count towards the cost of an operation of GraphQL, the user's rate limit,
 * and the queue of long reads.
 */
import type { JsonScalar } from '../../base/json/json.js';
import { parsePlainJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Filter } from '../../base/model/filter.js';
import { isEverything } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { placeInRecord } from '../../base/model/place.js';
import type { RecordQuery } from '../../base/model/record-query.js';
import type { Database } from '../database/database.js';
import { hasTrigrams, isIndexedPath } from '../database/declared-indexes.js';
import { partitionName } from '../database/partitions.js';
import { sql } from '../sql.js';

/** Reads of fewer records cost nothing beyond their request. */
const LEAST_ROWS = 1_000;
const RENEW_MS = 60_000;
/** Shorter texts have no whole trigram. */
const TRIGRAM = 3;

/** The part of a query that decides what it goes through. */
type ScannedQuery = Pick<RecordQuery, 'filter' | 'sort' | 'skip'>;
/** For a page, or for all that match: a count, an aggregate, a write by filter. */
export type Extent = 'page' | 'all';

interface ScannedPlace {
  readonly domainId: string;
  readonly collection: Collection;
  readonly rows: number;
  readonly extent: Extent;
}

/** Estimates the records of each collection and domain by statistics of PostgreSQL, a minute old at most. */
export class CollectionSizes {
  readonly #database: Pick<Database, 'query'>;
  readonly #find: (name: string) => Collection | undefined;
  #sizes: ReadonlyMap<string, PartitionSize> = new Map();
  /** The values of indexed fields, by partition and field. */
  #values: ReadonlyMap<string, FieldValues> = new Map();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;

  constructor(database: Pick<Database, 'query'>, find: (name: string) => Collection | undefined) {
    this.#database = database;
    this.#find = find;
  }

  /** How many records of a domain a query scans. A page ends early only if an index has its order. */
  scannedRows(domainId: string, collection: Collection, query: ScannedQuery, extent: Extent): number {
    const rows = this.#rowsOf(domainId, collection.name);
    if (rows === 0) return 0;
    const { filter, skip, sort } = query;
    const isOrdered = sort[0] === undefined || isServed(collection, sort[0].path);
    if (extent === 'page' && isEverything(filter)) return isOrdered ? Math.min(skip, rows) : rows;
    const isWhole = extent === 'all' || !isOrdered;
    return this.#filtered(filter, { domainId, collection, rows, extent: isWhole ? 'all' : 'page' });
  }

  /** The conditions that hold together need one index; of alternatives each needs its own. */
  #filtered(filter: Filter, place: ScannedPlace): number {
    const { domainId, collection, rows } = place;
    switch (filter.kind) {
      case 'all': {
        let least = rows;
        // The two ends of a range together.
        const byPath = new Map<string | undefined, Filter[]>();
        for (const part of filter.filters) {
          const others = byPath.get(pathOf(part));
          if (!isFoundByIndex(part, collection)) least = Math.min(least, this.#filtered(part, place));
          else if (others) others.push(part);
          else byPath.set(pathOf(part), [part]);
        }
        return Math.min(least, ...[...byPath.values()].map((parts) => this.#found(parts, place)));
      }
      case 'any':
        return filter.filters.reduce((sum, part) => sum + this.#filtered(part, place), 0);
      case 'record': {
        const target = this.#find(filter.collection);
        const query = { ...filter, sort: [], skip: 0 };
        const found = target === undefined ? 0 : this.scannedRows(domainId, target, query, 'all');
        return found + (isServed(collection, filter.path) ? 0 : rows);
      }
      default:
        return isFoundByIndex(filter, collection) ? this.#found([filter], place) : rows;
    }
  }

  /** How many records an index finds by conditions of one field; a page does not need all of them. */
  #found(filters: readonly Filter[], { collection, rows, extent }: ScannedPlace): number {
    if (extent === 'page') return 0;
    const [field] = pathOf(filters[0])?.split('.') ?? [];
    const values = this.#values.get(`${partitionName(collection.name)}/${field}`);
    return values === undefined ? 0 : Math.round(rows * shareOf(filters, values));
  }

  /** 0 while the statistics are unknown, and for small collections. */
  #rowsOf(domainId: string, collection: string): number {
    if (performance.now() - this.#renewedAt > RENEW_MS) void this.renew();
    const size = this.#sizes.get(partitionName(collection));
    return size === undefined ? 0 : Math.round(size.rows * (size.shares.get(domainId) ?? size.otherShare));
  }

  /** Reads the statistics; the present ones remain if that fails. */
  async renew(): Promise<void> {
    this.#renewing ??= this.#read().finally(() => {
      this.#renewedAt = performance.now();
      this.#renewing = undefined;
    });
    await this.#renewing.catch(() => {});
  }

  async #read(): Promise<void> {
    const rows = await this.#database.query<PartitionRow>(
      sql`
        select partition, rows, s.most_common_vals::text::text[] as domains, s.most_common_freqs as shares,
          s.n_distinct as "distinct"
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        cross join lateral (
          select c.relname::text as partition, c.relnamespace::regnamespace::text as schema,
            -- The second counts what was written since the last analyze; neither waits for a lock.
            greatest(c.reltuples, pg_stat_get_live_tuples(c.oid))::float8 as rows
        ) as size
        left join pg_stats s
          on s.schemaname = size.schema and s.tablename = partition and s.attname = 'domain'
        where i.inhparent = to_regclass('records') and rows >= ${LEAST_ROWS}::int`,
      { name: 'collection-sizes' },
    );
    this.#sizes = new Map(rows.map((row) => [row.partition, sizeOf(row)]));
    const values = await this.#database.query<ValuesRow>(
      sql`
        select tablename as partition, substring(expr from '''([^'']+)''') as field,
          most_common_vals::text::text[] as common, most_common_freqs as shares,
          histogram_bounds::text::text[] as bounds, null_frac as missing
        from pg_stats_ext_exprs
        where tablename = any (${[...this.#sizes.keys()]}::text[]) and n_distinct is not null`,
      { name: 'collection-values' },
    );
    this.#values = new Map(values.map((row) => [`${row.partition}/${row.field}`, valuesOf(row)]));
  }
}

/** The commonest values of a field with their shares, and values that part the others evenly. */
interface FieldValues {
  readonly common: readonly (readonly [value: JsonScalar, share: number])[];
  readonly bounds: readonly JsonScalar[];
  /** The share of the values that are not common. */
  readonly rest: number;
}

interface ValuesRow {
  readonly partition: string;
  readonly field: string;
  readonly common: readonly string[] | null;
  readonly shares: readonly number[] | null;
  readonly bounds: readonly string[] | null;
  readonly missing: number;
}

function valuesOf({ common, shares, bounds, missing }: ValuesRow): FieldValues {
  const read = (text: string) => parsePlainJson(text) as JsonScalar;
  const known = (common ?? []).map((text, index) => [read(text), shares?.[index] ?? 0] as const);
  const rest = known.reduce((left, [, share]) => left - share, 1 - missing);
  return { common: known, bounds: (bounds ?? []).map(read), rest };
}

/** The share of the records that satisfy all conditions; 0 if one of them does not test values. */
function shareOf(filters: readonly Filter[], { common, bounds, rest }: FieldValues): number {
  const tests = filters.map(testOf);
  const isMet = (value: JsonScalar) => tests.every((test) => test?.(value) ?? false);
  const ofCommon = common.reduce((sum, [value, share]) => sum + (isMet(value) ? share : 0), 0);
  return ofCommon + (rest * bounds.filter(isMet).length) / Math.max(1, bounds.length);
}

/** Values of other types are not compared. A month is the beginning of its days and instants. */
function testOf(filter: Filter): ((value: JsonScalar) => boolean) | undefined {
  switch (filter.kind) {
    case 'greaterThan':
    case 'greaterOrEqual':
      return (value) => typeof value === typeof filter.value && (value ?? '') >= filter.value;
    case 'lessThan':
    case 'lessOrEqual':
      return (value) => typeof value === typeof filter.value && (value ?? '') <= filter.value;
    case 'equals':
      return (value) => value === filter.value;
    case 'in':
      return (value) => filter.values.some((one) => one === value);
    case 'looseEquals':
      return (value) => String(value) === filter.text;
    case 'within':
      return (value) => String(value).startsWith(filter.month);
    default:
      return undefined;
  }
}

function pathOf(filter: Filter | undefined): string | undefined {
  return filter !== undefined && 'path' in filter ? filter.path.join('.') : undefined;
}

interface PartitionSize {
  /** The records of all domains. */
  readonly rows: number;
  /** The shares of the domains with most records. */
  readonly shares: ReadonlyMap<string, number>;
  /** The share of each other domain. */
  readonly otherShare: number;
}

interface PartitionRow {
  readonly partition: string;
  readonly rows: number;
  readonly domains: readonly string[] | null;
  readonly shares: readonly number[] | null;
  /** How many values; negative: as a share of the rows. */
  readonly distinct: number | null;
}

function sizeOf({ rows, domains, shares, distinct }: PartitionRow): PartitionSize {
  const known = new Map((domains ?? []).map((domain, index) => [domain, shares?.[index] ?? 0]));
  // Nothing was analyzed: all records may be of one domain.
  if (distinct === null) return { rows, shares: known, otherShare: 1 };
  const values = distinct < 0 ? -distinct * rows : distinct;
  const sum = [...known.values()].reduce((total, share) => total + share, 0);
  return { rows, shares: known, otherShare: Math.max(0, 1 - sum) / Math.max(1, values - known.size) };
}

/** Whether an index leads to the records that satisfy a single condition. */
function isFoundByIndex(filter: Filter, collection: Collection): boolean {
  switch (filter.kind) {
    case 'looseEquals':
    case 'on':
    case 'within':
      return filter.isInsensitive === true
        ? hasTrigrams(collection, filter.path)
        : isEqualityServed(collection, filter.path);
    case 'equals':
    case 'in':
      return isEqualityServed(collection, filter.path);
    case 'greaterThan':
    case 'greaterOrEqual':
    case 'lessThan':
    case 'lessOrEqual':
      return isServed(collection, filter.path);
    case 'startsWith':
      if (filter.isInsensitive !== true && isServed(collection, filter.path)) return true;
      return isTextServed(collection, filter.path, filter.text);
    case 'contains':
    case 'equalsInsensitive':
      return isTextServed(collection, filter.path, filter.text);
    case 'element':
      return isElementServed(filter.filter);
    case 'match':
      return (
        (filter.test.kind === 'equals' || filter.test.kind === 'in') &&
        isEqualityServed(collection, filter.path)
      );
    default:
      return false;
  }
}

/** The index over whole documents has the values within lists and of undeclared fields, by equality alone. */
function isElementServed(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.some(isElementServed);
    case 'any':
      return filter.filters.every(isElementServed);
    case 'element':
      return isElementServed(filter.filter);
    default:
      return filter.kind === 'equals' || filter.kind === 'in' || filter.kind === 'looseEquals';
  }
}

function isEqualityServed(collection: Collection, path: Path): boolean {
  return isServed(collection, path) || placeInRecord(collection, path).form === 'path';
}

function isServed(collection: Collection, path: Path): boolean {
  const { form, type } = placeInRecord(collection, path);
  if (form === 'id') return true;
  return isIndexedPath(collection, type === 'reference' ? [...path, 'value'] : path, 'first');
}

/** A text operator looks at the label of a reference too, which needs an index as well. */
function isTextServed(collection: Collection, path: Path, text: string): boolean {
  if ([...text].length < TRIGRAM) return false;
  const { type } = placeInRecord(collection, path);
  return hasTrigrams(collection, type === 'reference' ? [...path, 'value'] : path);
}
