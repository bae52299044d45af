/**
 * What a collection's declaration says, as the service holds it. The files of schema/collections and
 * `registerCollection` are parsed into this.
 */
import type { FieldFormat, FieldType } from './field-types/scalar-types.js';
import type { RecordVerb } from './scope.js';

/** A stamp every record has, declared or not. @see decisions 2 */
export const CREATED_ON = 'created_on';

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly description: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly isUnique: boolean;
  readonly isIndexed: boolean;
  /** Served by a trigram index: `contains` is fast on it. */
  readonly isSearchable: boolean;
  readonly allowed: readonly string[] | undefined;
  /** A value, or `now` for the instant of the write. */
  readonly default: string | number | boolean | undefined;
  /** number: money and other exact amounts; GraphQL `Decimal`. */
  readonly isDecimal: boolean;
  /** Tells apart the scalar types that are declared by one word, e.g. `date` of `datetime`. */
  readonly format: FieldFormat | undefined;
  /** reference: the collections it may point to. */
  readonly targets: readonly string[];
  /** reference: whether a write that points at no record is refused. */
  readonly mustExist: boolean;
  /** object: the declared members, if any. */
  readonly fields: readonly Field[];
  readonly example: unknown;
  readonly unit: string | undefined;
  readonly deprecated: string | undefined;
}

/** What one role may do with a collection. */
export interface RoleAccess {
  readonly verbs: ReadonlySet<RecordVerb>;
  /** Top-level fields hidden from the role; it may not filter, sort or group by them either. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Top-level fields the role may not set; hidden ones are read-only too. */
  readonly readOnlyFields: ReadonlySet<string>;
  /** The rows the role sees and may change; `undefined`: all. */
  readonly rows: RowRule | undefined;
  /** The rows that the role sees besides, and may not change. */
  readonly alsoReads: readonly RowRule[];
}

/**
 * A row rule: the record's values at `fields`, taken together, are among the caller's `attribute`.
 * `{fields: [['class'], ['section']], attribute: 'sectionsTaught'}`: a teacher sees the sections taught.
 * A list, which is compared with `roles` alone, is among them when one of its elements is.
 */
export interface RowRule {
  readonly fields: readonly (readonly string[])[];
  readonly attribute: string;
}

/**
 * Each element of `list` whose reference `caller` points to the caller adds `[record.<key0>, element.<key1>
 * …]` to the caller's `attribute`.
 */
export interface Grant {
  readonly attribute: string;
  readonly list: string;
  readonly caller: string;
  /**
   * Field paths: one that starts with the list's name is read from the element, any other from the record.
   */
  readonly key: readonly (readonly string[])[];
}

/**
 * Values that no two live records of a domain share together; a `day` part counts a datetime by its day in
 * the domain's time zone.
 */
export interface UniqueTogether {
  readonly name: string;
  readonly parts: readonly { readonly path: readonly string[]; readonly by: 'value' | 'day' }[];
}

/**
 * What must hold between the values of one record. An absent value is not compared; an absent addend is 0.
 */
export type Check = SumCheck | OrderCheck;

/** The number `total` equals the sum of the numbers at `of`, exactly. */
interface SumCheck {
  readonly kind: 'sum';
  readonly total: string;
  readonly of: readonly (readonly string[])[];
}

/** The value of `lower` is not above that of `upper` in each object at `in` (empty: the record itself). */
interface OrderCheck {
  readonly kind: 'order';
  readonly in: readonly string[];
  readonly lower: string;
  readonly upper: string;
}

/** What an erasure of a person does with the records of a collection. */
export interface Personal {
  /** Each record is a person, who may be exported and erased. */
  readonly isPerson: boolean;
  /** Top-level references: the record belongs to the person, or to what is the person's, they point to. */
  readonly about: readonly string[];
  /** Top-level texts that tell who the person is; their values are looked for everywhere. */
  readonly identifiers: readonly string[];
  /** Other top-level fields that say something of the person; a record that is kept loses them. */
  readonly fields: readonly string[];
  /** Why the record stays, without all that; `undefined`: it is removed. */
  readonly keptBecause: string | undefined;
}

export interface Collection {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The field that names a record to a person; fills a missing label of a reference to it. */
  readonly labelField: string | undefined;
  readonly fields: readonly Field[];
  readonly fieldsByName: ReadonlyMap<string, Field>;
  /** Indexes over several scalar fields, beside those of the fields themselves. */
  readonly indexes: readonly (readonly (readonly string[])[])[];
  readonly uniqueTogether: readonly UniqueTogether[];
  readonly checks: readonly Check[];
  readonly grants: readonly Grant[];
  /** The access by role. A role without an entry has no access; `admin` has all unless it has an entry. */
  readonly access: ReadonlyMap<string, RoleAccess>;
  /** `undefined`: nothing is declared, and an erasure leaves the records but for the person's name. */
  readonly personal: Personal | undefined;
  /** It comes from a file of schema/collections, not registered at run time. */
  readonly isDeclared: boolean;
  /** The top domain whose it is, and its branches'; `undefined`: every domain has it. */
  readonly domainId: string | undefined;
  /** Goes up with every change of the definition: the key of whatever is cached for a collection. */
  readonly version: number;
  /** GraphQL names, e.g. `task` and `tasks`. */
  readonly singular: string;
  readonly plural: string;
}
