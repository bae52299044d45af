/**
 * The selection of a document as a tree of fields by response key: enough to lay the answer out as tables.
 * Imports nothing, so that its users need not load the GraphQL parser.
 */
export interface FieldShape {
  /** The name of its type without list and non-null; `undefined` without a schema. */
  readonly type: string | undefined;
  readonly isList: boolean;
  /** The fields by response key; empty for a leaf. */
  readonly fields: ReadonlyMap<string, FieldShape>;
}

export const UNKNOWN_LEAF: FieldShape = { type: undefined, isList: false, fields: new Map() };
