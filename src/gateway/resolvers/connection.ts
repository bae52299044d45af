/** Connections for the lists of services: their edge types and values. */

import { member, objectType, type TypeClass } from '../../base/scalars/declared-type.js';
import type { KeysetPage } from '../../store/database/keyset.js';
import type { RecordPage } from '../../store/reading/record-page.js';
import { PageInfo } from './records/generic-record.js';

interface Edge<Node> {
  readonly node: Node;
  readonly cursor: string;
}

/** The fields of every such connection. */
export interface Connection<Node> {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge<Node>[];
  readonly pageInfo: PageInfo;
}

/** The type `<name>Connection` with its edges. `one`: "An import", `many`: "The imports". */
export function connectionType<Node extends object>(
  name: string,
  node: TypeClass<Node>,
  {
    page,
    one,
    many,
    isCounted = false,
  }: { readonly page: string; readonly one: string; readonly many: string; readonly isCounted?: boolean },
): TypeClass<Connection<Node>> {
  const edge = objectType(`${name}Edge`, `${one} in a page, with its cursor.`, {
    node: member.of(node, `${one}.`),
    cursor: member.text('Its place in the order, for `after` and `before`.'),
  });
  return objectType(`${name}Connection`, page, {
    nodes: member.list(node, `${many} of the page.`),
    edges: member.list(edge, 'The same with a cursor each.'),
    pageInfo: member.of(PageInfo, 'The position of the page in the order.'),
    ...(isCounted && { totalCount: member.whole('The total number. Counted only if selected.') }),
  });
}

export function toConnection<Row, Node>(
  { rows, hasNextPage, hasPreviousPage }: KeysetPage<Row>,
  { toNode, cursorOf }: { readonly toNode: (row: Row) => Node; readonly cursorOf: (row: Row) => string },
): Connection<Node> {
  const edges = rows.map((row) => ({ node: toNode(row), cursor: cursorOf(row) }));
  return {
    nodes: edges.map(({ node }) => node),
    edges,
    pageInfo: pageInfoOf({ cursors: edges.map(({ cursor }) => cursor), hasNextPage, hasPreviousPage }),
  };
}

/** The `pageInfo` of a page. */
export function pageInfoOf({ cursors, hasNextPage, hasPreviousPage }: Omit<RecordPage, 'records'>): PageInfo {
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: cursors.at(0) ?? null,
    endCursor: cursors.at(-1) ?? null,
  };
}
