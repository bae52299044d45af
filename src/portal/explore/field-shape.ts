/**
 * What a document asks for, as a tree of fields by response key: enough to lay the answer out as tables.
 * Needs nothing but itself, so that who has a shape at hand does not load the language of GraphQL.
 */
export interface FieldShape {
  /** The name of its type without list and non-null; `undefined` where no schema says so. */
  readonly type: string | undefined;
  readonly isList: boolean;
  /** The fields by response key; empty for a leaf. */
  readonly fields: ReadonlyMap<string, FieldShape>;
}

export const UNKNOWN_LEAF: FieldShape = { type: undefined, isList: false, fields: new Map() };
