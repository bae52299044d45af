/** What a write of many records answers: how many, and as many of the records as are asked for. */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType } from 'graphql';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import { type PageSizes, toPageRequest } from '../../page-arguments.js';
import { selectedFields } from '../selection.js';

export interface RecordBatch {
  /** Records created, changed or removed. */
  readonly count: number;
  /** The number of new ones among them. */
  readonly created: number;
  /** Records that were there and matched. */
  readonly matched: number;
  /** The first of them, as many as were asked for: as they are now, removed ones as they were. */
  readonly records: readonly StoredRecord[];
}

/** What a document selects of the records of a batch. */
export interface BatchSelection {
  readonly nodes: readonly FieldNode[];
  /** 0: the records are not asked for. */
  readonly count: number;
}

/**
 * Looks ahead, so that nothing is read for nobody, and a page that is too large is refused before anything is
 * written. @throws LIMIT_EXCEEDED, INVALID_VALUE
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

/** How many records `records(first:)` gives. @throws LIMIT_EXCEEDED, INVALID_VALUE */
export function shownCount(first: number | null | undefined, pages: PageSizes): number {
  return toPageRequest({ first: first ?? null }, pages).limit;
}
