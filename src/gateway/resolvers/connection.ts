/** Connections for the lists of services: their edge types and values. */
import type { KeysetPage } from '../../store/database/keyset.js';
import type { PageInfo } from './records/generic-record.js';
import { pageInfoOf } from './records/lazy-record.js';
import { field, objectType, type TypeClass } from './run-time-types.js';

export interface Edge<Node> {
  readonly node: Node;
  readonly cursor: string;
}

/** The fields of every such connection. */
export interface Connection<Node> {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge<Node>[];
  readonly pageInfo: PageInfo;
}

/** The edge type of the connection `<name>Connection`. */
export function edgeType(name: string, node: () => NewableFunction, description: string): TypeClass {
  const edge = objectType(`${name}Edge`, `${description} in a page, with its cursor.`);
  field(edge, 'node', node, { description: `${description}.` });
  field(edge, 'cursor', () => String, { description: 'Its place in the order, for `after` and `before`.' });
  return edge;
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
