/** The result of a bulk write: counts, and as many of the records as requested. */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType } from 'graphql';
import type { StoredRecord } from '../../../../store/reading/stored-record.js';
import { type PageSizes, toPageRequest } from '../../page-arguments.js';
import { selectedFields } from '../selection.js';

export interface RecordBatch {
  /** Records created, changed or removed. */
  readonly count: number;
  /** How many of them are new. */
  readonly created: number;
  /** The existing records that matched. */
  readonly matched: number;
  /** The first records, as many as requested: in their new state, removed ones in their last. */
  readonly records: readonly StoredRecord[];
}

/** The selection of a document on the records of a batch. */
export interface BatchSelection {
  readonly nodes: readonly FieldNode[];
  /** 0: the records are not selected. */
  readonly count: number;
}

/**
 * Inspects the selection before the write, so that records are read only if selected, and a page that is too
 * large is refused before anything is written. @throws LIMIT_EXCEEDED, INVALID_VALUE
 */
export function selectedRecords(
  typeName: string,
  info: GraphQLResolveInfo,
  pages: PageSizes,
): BatchSelection {
  const type = info.schema.getType(typeName);
  const definition = isObjectType(type) ? type.getFields().records : undefined;
  if (!definition) throw new Error(`${typeName} is no batch`);
  const nodes: FieldNode[] = [];
  let count = 0;
  for (const fieldNodes of selectedFields(typeName, info.fieldNodes, info).values()) {
    const [node] = fieldNodes;
    if (node?.name.value !== 'records') continue;
    const { first } = getArgumentValues(definition, node, info.variableValues);
    count = Math.max(count, shownCount(typeof first === 'number' ? first : undefined, pages));
    nodes.push(...fieldNodes);
  }
  return { nodes, count };
}

/** How many records `records(first:)` returns. @throws LIMIT_EXCEEDED, INVALID_VALUE */
export function shownCount(first: number | null | undefined, pages: PageSizes): number {
  return toPageRequest({ first: first ?? null }, pages).limit;
}
