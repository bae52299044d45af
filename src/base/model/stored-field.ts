/** A top-level field of a collection, by the names under which they are stored. */
export interface StoredField {
  readonly collection: string;
  readonly field: string;
  /** The verb that the member needs; absent: read. */
  readonly verb?: 'create' | 'update';
}

/** The stored fields behind the members of types, inputs and enums, by the names of type and member. */
export type StoredFieldsByType = ReadonlyMap<string, ReadonlyMap<string, readonly StoredField[]>>;
