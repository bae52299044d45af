/**
 * The declaration of a collection as the service uses it, parsed from the files of schema/collections and
 * from `registerCollection`.
 */
import type { Bounds } from './bounds.js';
import type { FieldFormat, FieldType } from './field-types/scalar-types.js';
import type { RecordVerb } from './scope.js';

/** A timestamp of every record, declared or not. @see decisions 2 */
export const CREATED_ON = 'created_on';

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly description: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly isUnique: boolean;
  readonly isIndexed: boolean;
  /** Has a trigram index, which makes `contains` fast. */
  readonly isSearchable: boolean;
  /** Decides who may log in, as whom, or with which rights; see `mayManageAccounts`. */
  readonly isRight: boolean;
  readonly allowed: readonly string[] | undefined;
  readonly bounds: Bounds | undefined;
  /** A value, or `now` for the instant of the write. */
  readonly default: string | number | boolean | undefined;
  /** number: money and other exact amounts; GraphQL `Decimal`. */
  readonly isDecimal: boolean;
  /** Distinguishes scalar types declared by the same word, e.g. `date` from `datetime`. */
  readonly format: FieldFormat | undefined;
  /** reference: the collections it may point to. */
  readonly targets: readonly string[];
  /** reference: whether a write with a dangling reference is refused. */
  readonly mustExist: boolean;
  /** reference: whether its target can be removed while a record points to it. */
  readonly onDelete: 'refuse' | 'keep';
  /** text: the sibling reference whose record provides this text for a new record without it. */
  readonly filledFrom: string | undefined;
  /** object: the declared members, if any. */
  readonly fields: readonly Field[];
  readonly example: unknown;
  readonly unit: string | undefined;
  readonly deprecated: string | undefined;
}

/** The references among the fields, and in their members, with their paths. */
export function listReferenceFields(
  fields: readonly Field[],
  parent: readonly string[] = [],
): readonly { readonly path: readonly string[]; readonly field: Field }[] {
  return fields.flatMap((field) => {
    const path = [...parent, field.name];
    return field.type === 'reference' ? [{ path, field }] : listReferenceFields(field.fields, path);
  });
}

/** Whether a new record must be sent with the field. */
export function mustBeSent({ isRequired, default: value, filledFrom }: Field): boolean {
  return isRequired && value === undefined && filledFrom === undefined;
}

/** The rights of one role on a collection. */
export interface RoleAccess {
  readonly verbs: ReadonlySet<RecordVerb>;
  /** Top-level fields hidden from the role; it may not filter, sort or group by them either. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Top-level fields the role may not set; hidden ones are read-only too. */
  readonly readOnlyFields: ReadonlySet<string>;
  /** The rows that the role may read and change; `undefined`: all. */
  readonly rows: RowRule | undefined;
  /** Additional rows that the role may read but not change. */
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
 * Values that must be unique together among the live records of a domain. A `day` part compares a datetime by
 * its day in the domain's time zone, a `folded` part a text by `foldText`. A unique field that ignores case
 * has a rule with its name and one part.
 */
export interface UniqueTogether {
  readonly name: string;
  readonly parts: readonly { readonly path: readonly string[]; readonly by: 'value' | 'day' | 'folded' }[];
  /** A record is not compared while one of these fields has one of its values; without `is`, any value. */
  readonly unless: readonly { readonly field: string; readonly is: readonly string[] | undefined }[];
}

/** A condition between values of one record. A missing value is not compared; a missing addend is 0. */
export type Check = SumCheck | SessionCheck | OrderCheck | WhenCheck | DistinctCheck;

/** The number `total` equals the sum of the numbers at `of`, exactly. */
interface SumCheck {
  readonly kind: 'sum';
  readonly total: string;
  readonly of: readonly (readonly string[])[];
}

/** The months at `of` are of the session in the field `session`. */
interface SessionCheck {
  readonly kind: 'inSession';
  readonly session: string;
  readonly of: readonly (readonly string[])[];
}

/** In each object at `in` (empty: the record itself), the value of `lower` is at most that of `upper`. */
interface OrderCheck {
  readonly kind: 'order';
  readonly in: readonly string[];
  readonly lower: string;
  readonly upper: string;
}

/** In each object at `in` where `field` has one of the values `is`, `holds.field` must satisfy `holds`. */
interface WhenCheck {
  readonly kind: 'when';
  readonly in: readonly string[];
  readonly field: string;
  readonly is: readonly (string | boolean)[];
  readonly holds: {
    readonly field: string;
    readonly isRequired: boolean;
    readonly isAbsent: boolean;
    /** The collection that the reference `field` points to, one of those of its field. */
    readonly target: string | undefined;
    readonly bounds: Bounds | undefined;
  };
}

/** In each list of objects at `in`, the texts of `field` differ in more than case and blanks. */
interface DistinctCheck {
  readonly kind: 'distinct';
  readonly in: readonly string[];
  readonly field: string;
}

/**
 * How the records keep the former stay of a person who comes back: a write that sets `from` to a day after
 * the record's `to` adds the former stay to `list`.
 */
interface Stays {
  readonly list: string;
  readonly from: string;
  readonly to: string;
  /** Fields that get their defaults when a stay begins. */
  readonly reset: readonly string[];
  /** The field with the session that the present stay is known for. */
  readonly session?: string | undefined;
}

/** How an erasure of a person treats the records of a collection. */
export interface Personal {
  /** Each record is a person who may be exported and erased. */
  readonly isPerson: boolean;
  /** Top-level references to a person, or to a record of a person; the record then belongs to that person. */
  readonly about: readonly string[];
  /** Top-level texts that identify the person; their values are searched for everywhere. */
  readonly identifiers: readonly string[];
  /** Other top-level fields with personal data, which a kept record loses. */
  readonly fields: readonly string[];
  /** The reason to keep the record without these fields; `undefined`: it is removed. */
  readonly keptBecause: string | undefined;
}

/**
 * Texts that must occur in another record. Each object at `in` (empty: the record itself) names a record of
 * `target` by its members, such as a class and a section of it, or agrees with the record of its sibling
 * reference.
 */
export interface Link {
  readonly in: readonly string[];
  readonly target: string;
  /** The fields, each with its equal in the other record; a path into a list means one element of it. */
  readonly members: readonly { readonly field: string; readonly path: readonly string[] }[];
  /** The field with the reference to the other record; `undefined`: its members name it. */
  readonly reference: string | undefined;
  /** The field with the day or session that decides which stay of the other record counts. */
  readonly on: string | undefined;
}

export interface Collection {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The field that names a record to people; it fills missing labels of references. */
  readonly labelField: string | undefined;
  readonly fields: readonly Field[];
  readonly fieldsByName: ReadonlyMap<string, Field>;
  /** Indexes over several scalar fields, in addition to those of the fields themselves. */
  readonly indexes: readonly (readonly (readonly string[])[])[];
  readonly uniqueTogether: readonly UniqueTogether[];
  readonly checks: readonly Check[];
  /** The field whose day decides whether the record is in books that the school has closed. */
  readonly bookedOn: string | undefined;
  readonly grants: readonly Grant[];
  /** By role. A role without an entry has no access; `admin` has full access unless it has an entry. */
  readonly access: ReadonlyMap<string, RoleAccess>;
  readonly links: readonly Link[];
  readonly stays: Stays | undefined;
  /** `undefined`: nothing is declared, and an erasure changes only the person's name in the records. */
  readonly personal: Personal | undefined;
  /** Declared by a file of schema/collections, not registered at run time. */
  readonly isDeclared: boolean;
  /** The top domain that owns it, together with its branches; `undefined`: all domains. */
  readonly domainId: string | undefined;
  /** Increases with every change of the definition; the cache key of everything derived from it. */
  readonly version: number;
  /** GraphQL names, e.g. `task` and `tasks`. */
  readonly singular: string;
  readonly plural: string;
}
