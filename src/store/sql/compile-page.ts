/** `PageShape` to one SQL statement whose one row and column is the JSON text of the page. */
import { Prisma } from '../../generated/prisma/client.js';
import type { RecordOrder } from './compile-sort.js';
import { cursorExpression } from './cursor.js';
import type { EdgeMember, PageInfoMember, PageMember, PageShape } from './page-shape.js';
import type { RecordSource } from './record-source.js';
import { compileObject, type Member, type Printing, startPrinting } from './shape.js';

type Sql = Prisma.Sql;

export interface PageStatementOptions {
  readonly source: RecordSource;
  readonly order: RecordOrder;
  readonly limit: number;
  readonly skip: number;
  /** The source is read from the end of the order; the page is turned around. */
  readonly fromEnd: boolean;
  /** There is something on the side the page was not read towards, e.g. before an `after`. */
  readonly hasMoreBehind: boolean;
  /** Over the alias `r`: all that is counted, wherever the page starts. */
  readonly countWhere: Sql;
  readonly printing: Omit<Printing, 'aliasCount'>;
}

/** One round trip for the records, their cursors, the count of all and what pageInfo says, as far as the shape asks for them. */
export function compilePage(shape: PageShape, options: PageStatementOptions): Sql {
  const page: PageCompilation = {
    options,
    joins: [],
    printing: startPrinting(options.printing),
    // One more than the page tells whether there is more.
    isCounted: shape.members.some(
      (member) => member.kind === 'pageInfo' && asksForMore(member.members, options),
    ),
  };
  const json = object(shape.members.map((member) => [member.key, pageMember(member, page)]));
  if (!shape.members.some(readsRecords)) return Prisma.sql`select ${json}::text as json`;
  const { source, limit, skip } = options;
  const rows = page.isCounted ? limit + 1 : limit;
  return Prisma.sql`
select ${json}::text as json
from (
  select r.*, row_number() over () as position, count(*) over () as total
  from (
    select r.id, r.version, r.created_at, r.updated_at, r.data
    from ${source.from}
    where ${source.where}
    order by ${source.orderBy}
    limit ${rows} ${skip === 0 ? Prisma.empty : Prisma.sql`offset ${skip}`}
  ) r
) r ${page.joins.length === 0 ? Prisma.empty : Prisma.join(page.joins, ' ')}`;
}

/** The JSON text of the first record of a source; no row where there is none. */
export function compileRecord(
  members: readonly Member[],
  options: { readonly source: RecordSource; readonly printing: Omit<Printing, 'aliasCount'> },
): Sql {
  const joins: Sql[] = [];
  const json = compileObject(members, joins, startPrinting(options.printing));
  return Prisma.sql`
select ${json}::text as json
from (
  select r.id, r.version, r.created_at, r.updated_at, r.data
  from ${options.source.from}
  where ${options.source.where}
  limit 1
) r ${joins.length === 0 ? Prisma.empty : Prisma.join(joins, ' ')}`;
}

interface PageCompilation {
  readonly options: PageStatementOptions;
  readonly joins: Sql[];
  readonly printing: Printing;
  readonly isCounted: boolean;
}

function pageMember(member: PageMember, page: PageCompilation): Sql {
  switch (member.kind) {
    case 'constant':
      return text(member.text);
    case 'records':
      return list(compileObject(member.members, page.joins, page.printing), page);
    case 'edges':
      return list(object(member.members.map((edge) => [edge.key, edgeMember(edge, page)])), page);
    case 'pageInfo':
      return object(member.members.map((part) => [part.key, pageInfoMember(part, page)]));
    case 'count':
      return Prisma.sql`(select count(*) from records r where ${page.options.countWhere})`;
  }
}

function edgeMember(edge: EdgeMember, page: PageCompilation): Sql {
  switch (edge.kind) {
    case 'constant':
      return text(edge.text);
    case 'record':
      return compileObject(edge.members, page.joins, page.printing);
    case 'cursor':
      return cursorExpression(page.options.order);
  }
}

function pageInfoMember(part: PageInfoMember, page: PageCompilation): Sql {
  const { fromEnd, hasMoreBehind } = page.options;
  switch (part.kind) {
    case 'constant':
      return text(part.text);
    case 'hasNextPage':
      return fromEnd ? truth(hasMoreBehind) : hasMoreAhead(page);
    case 'hasPreviousPage':
      return fromEnd ? hasMoreAhead(page) : truth(hasMoreBehind);
    case 'startCursor':
      return fromEnd ? lastCursor(page) : firstCursor(page);
    case 'endCursor':
      return fromEnd ? firstCursor(page) : lastCursor(page);
  }
}

function asksForMore(members: readonly PageInfoMember[], { fromEnd }: PageStatementOptions): boolean {
  const asked = fromEnd ? 'hasPreviousPage' : 'hasNextPage';
  return members.some((member) => member.kind === asked);
}

function readsRecords(member: PageMember): boolean {
  switch (member.kind) {
    case 'constant':
    case 'count':
      return false;
    case 'records':
    case 'edges':
      return true;
    case 'pageInfo':
      return member.members.some((part) => part.kind !== 'constant');
  }
}

function list(element: Sql, page: PageCompilation): Sql {
  const { fromEnd, limit } = page.options;
  // Without joins the rows come in order.
  const isSorted = page.joins.length > 0 || fromEnd;
  const order = isSorted ? Prisma.raw(` order by r.position${fromEnd ? ' desc' : ''}`) : Prisma.empty;
  const within = page.isCounted ? Prisma.sql` filter (where r.position <= ${limit})` : Prisma.empty;
  return Prisma.sql`coalesce(json_agg(${element}${order})${within}, '[]'::json)`;
}

function hasMoreAhead(page: PageCompilation): Sql {
  return Prisma.sql`count(*) > ${page.options.limit}`;
}

/** An aggregate computes its argument for the rows of its filter only: two cursors, not one a record. */
function firstCursor(page: PageCompilation): Sql {
  return Prisma.sql`min(${cursorExpression(page.options.order)}) filter (where r.position = 1 and ${page.options.limit} > 0)`;
}

function lastCursor(page: PageCompilation): Sql {
  const { order, limit } = page.options;
  return Prisma.sql`min(${cursorExpression(order)}) filter (where r.position = least(r.total, ${limit}))`;
}

function truth(value: boolean): Sql {
  return Prisma.raw(value ? 'true' : 'false');
}

function text(constant: string): Sql {
  return Prisma.sql`${constant}::text`;
}

function object(members: readonly (readonly [string, Sql])[]): Sql {
  const pairs = members.map(([key, value]) => Prisma.sql`${key}::text, ${value}`);
  return pairs.length === 0 ? Prisma.raw(`'{}'::json`) : Prisma.sql`json_build_object(${Prisma.join(pairs)})`;
}
