/** Compiles a `PageShape` to one SQL statement. Its only row and column is the JSON text of the page. */
import { type Sql, sql } from '../sql.js';
import {
  compileObject,
  formatObject,
  joinsOf,
  type Piece,
  type Printing,
  type RecordItem,
  startPrinting,
  startRecordItem,
  valueColumns,
} from './compile-shape.js';
import type { RecordOrder } from './compile-sort.js';
import { cursorExpression } from './compile-sort.js';
import type { RecordSource } from './record-source.js';
import {
  type EdgeMember,
  type Member,
  type PageInfoMember,
  type PageMember,
  type PageShape,
  readsOthers,
} from './shape.js';

export interface PageStatementOptions {
  readonly source: RecordSource;
  readonly order: RecordOrder;
  readonly limit: number;
  readonly skip: number;
  /** Whether the source is read from the end of the order. The statement then reverses the page. */
  readonly fromEnd: boolean;
  /** Whether records exist on the other side of the page, e.g. before an `after`. */
  readonly hasMoreBehind: boolean;
  /** Over the alias `r`: selects all records to count, whether or not they are on the page. */
  readonly countWhere: Sql;
}

/** One round trip returns the records, cursors, total count and pageInfo that the shape contains. */
export function compilePage(
  shape: PageShape,
  options: PageStatementOptions & { readonly printing: Omit<Printing, 'aliasCount'> },
): Sql {
  return compileInnerPage(shape, options, startPrinting(options.printing));
}

/** The same as a part of a larger statement. */
export function compileInnerPage(shape: PageShape, options: PageStatementOptions, printing: Printing): Sql {
  const page: PageCompilation = {
    options,
    item: startRecordItem(),
    printing,
    // Without a join, the rows keep the order of their source.
    isSorted: options.fromEnd || readsOthers(shape.members.flatMap(recordMembers)),
    // One record more than the page shows whether there are more.
    isCounted: shape.members.some(
      (member) => member.kind === 'pageInfo' && asksForMore(member.members, options),
    ),
  };
  const json = formatObject(shape.members.map((member) => [member.key, pageMember(member, page)]));
  if (!shape.members.some((member) => readsRecords(member, page))) return sql`select ${json} as json`;
  const { source, limit, skip } = options;
  const records = sql`
  select r.id, r.version, r.created_at, r.updated_at, r.data
  from ${source.from}
  where ${source.where}
  order by ${source.orderBy}
  limit ${page.isCounted ? limit + 1 : limit} ${skip === 0 ? sql.empty : sql`offset ${skip}`}`;
  return sql`
select ${json} as json
from (${needsPositions(shape, page) ? withPositions(records, page.item) : withValues(records, page.item)}
) r ${joinsOf(page.item)}`;
}

function withPositions(records: Sql, item: RecordItem): Sql {
  return sql`
  select r.*${valueColumns(item)}, row_number() over () as position, count(*) over () as total
  from (${records}
  ) r`;
}

/** Adds the values around the limited records: they are extracted from the records of the page alone. */
function withValues(records: Sql, item: RecordItem): Sql {
  if (item.values.size === 0) return records;
  return sql`
  select r.*${valueColumns(item)}
  from (${records}
  ) r
  offset 0`;
}

function needsPositions(shape: PageShape, page: PageCompilation): boolean {
  const asksForCursor = shape.members.some(
    (member) => member.kind === 'pageInfo' && member.members.some(({ kind }) => kind.endsWith('Cursor')),
  );
  return page.isCounted || asksForCursor || page.isSorted;
}

/** The JSON text of the first record of a source. No row if the source is empty. */
export function compileRecord(
  members: readonly Member[],
  options: { readonly source: RecordSource; readonly printing: Omit<Printing, 'aliasCount'> },
): Sql {
  const item = startRecordItem();
  const json = compileObject(members, item, startPrinting(options.printing));
  return sql`
select ${json} as json
from (
  select r.id, r.version, r.created_at, r.updated_at, r.data${valueColumns(item)}
  from ${options.source.from}
  where ${options.source.where}
  limit 1
) r ${joinsOf(item)}`;
}

interface PageCompilation {
  readonly options: PageStatementOptions;
  readonly item: RecordItem;
  readonly printing: Printing;
  readonly isSorted: boolean;
  readonly isCounted: boolean;
}

function pageMember(member: PageMember, page: PageCompilation): Piece {
  switch (member.kind) {
    case 'constant':
      return { json: JSON.stringify(member.text) };
    case 'records':
      return list(compileObject(member.members, page.item, page.printing), page);
    case 'edges':
      return list(formatObject(member.members.map((edge) => [edge.key, edgeMember(edge, page)])), page);
    case 'pageInfo':
      return formatObject(member.members.map((part) => [part.key, pageInfoMember(part, page)]));
    case 'count':
      return sql`(select count(*) from records r where ${page.options.countWhere})`;
  }
}

function edgeMember(edge: EdgeMember, page: PageCompilation): Piece {
  switch (edge.kind) {
    case 'constant':
      return { json: JSON.stringify(edge.text) };
    case 'record':
      return compileObject(edge.members, page.item, page.printing);
    case 'cursor':
      return quotedCursor(page);
  }
}

function pageInfoMember(part: PageInfoMember, page: PageCompilation): Piece {
  const { fromEnd, hasMoreBehind } = page.options;
  switch (part.kind) {
    case 'constant':
      return { json: JSON.stringify(part.text) };
    case 'hasNextPage':
      return fromEnd ? { json: String(hasMoreBehind) } : hasMoreAhead(page);
    case 'hasPreviousPage':
      return fromEnd ? hasMoreAhead(page) : { json: String(hasMoreBehind) };
    case 'startCursor':
      return fromEnd ? lastCursor(page) : firstCursor(page);
    case 'endCursor':
      return fromEnd ? firstCursor(page) : lastCursor(page);
  }
}

function asksForMore(members: readonly PageInfoMember[], { fromEnd }: PageStatementOptions): boolean {
  const needed = fromEnd ? 'hasPreviousPage' : 'hasNextPage';
  return members.some((member) => member.kind === needed);
}

/** The members to print of each record of a page. */
export function recordMembers(member: PageMember): readonly Member[] {
  if (member.kind === 'records') return member.members;
  if (member.kind !== 'edges') return [];
  return member.members.flatMap((edge) => (edge.kind === 'record' ? edge.members : []));
}

/** Whether the member aggregates records of the page: only an aggregate has a row for an empty page. */
function readsRecords(member: PageMember, page: PageCompilation): boolean {
  switch (member.kind) {
    case 'constant':
    case 'count':
      return false;
    case 'records':
    case 'edges':
      return true;
    case 'pageInfo':
      return member.members.some((part) => !('json' in pageInfoMember(part, page)));
  }
}

function list(element: Sql, page: PageCompilation): Sql {
  const { fromEnd, limit } = page.options;
  const order = page.isSorted ? sql.raw(` order by r.position${fromEnd ? ' desc' : ''}`) : sql.empty;
  const within = page.isCounted ? sql` filter (where r.position <= ${limit})` : sql.empty;
  return sql`'[' || coalesce(string_agg(${element}, ','${order})${within}, '') || ']'`;
}

function hasMoreAhead(page: PageCompilation): Sql {
  return sql`case when count(*) > ${page.options.limit} then 'true' else 'false' end`;
}

/** An aggregate evaluates its argument for the rows of its filter alone: two cursors are printed. */
function firstCursor(page: PageCompilation): Sql {
  return sql`coalesce(min(${quotedCursor(page)}) filter (where r.position = 1
    and ${page.options.limit} > 0), 'null')`;
}

function lastCursor(page: PageCompilation): Sql {
  const { limit } = page.options;
  return sql`coalesce(min(${quotedCursor(page)}) filter (where r.position = least(r.total, ${limit})),
    'null')`;
}

function quotedCursor(page: PageCompilation): Sql {
  return sql`'"' || ${cursorExpression(page.options.order)} || '"'`;
}
