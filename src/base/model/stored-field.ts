/** A top-level field of a collection, by the names under which they are stored. */
export interface StoredField {
  readonly collection: string;
  readonly field: string;
  /** What is done with it where the member stands; absent: it is read. */
  readonly verb?: 'create' | 'update';
}

/** What the members of types, inputs and enums of a schema stand for, by the names of type and member. */
export type StoredFieldsByType = ReadonlyMap<string, ReadonlyMap<string, readonly StoredField[]>>;
