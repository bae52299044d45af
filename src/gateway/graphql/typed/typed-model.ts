/**
 * The typed part of the schema as a plain value: for each collection of the catalog, the names and kinds of
 * its types, inputs and root fields. Classes are generated from it, selections are read by it, and JSON is
 * converted to and from GraphQL values by it.
 */

import {
  distinctGraphqlNames,
  toEnumValueName,
  toFieldName,
  toSingular,
  toTypeName,
  withArticle,
} from '../../../base/languages/graphql-names.js';
import { describeBounds } from '../../../base/model/bounds.js';
import type { Collection, Field } from '../../../base/model/collection.js';
import { type ScalarName, valueKindOf } from '../../../base/model/field-types/scalar-types.js';
import type { Path } from '../../../base/model/path.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { isInheritedName } from '../../../base/text/inherited-names.js';
import type { PageSizes } from '../../resolvers/page-arguments.js';

export interface TypedModel {
  readonly collections: readonly TypedCollection[];
  readonly byCollection: ReadonlyMap<string, TypedCollection>;
  /** The sizes of nested pages. */
  readonly pages: PageSizes;
}

export interface TypedCollection {
  readonly collection: Collection;
  /**
   * The root fields `task` and `tasks`; mutations are `create`, `update`, `delete` and `upsert` with the
   * type's name or its plural.
   */
  readonly singular: string;
  readonly plural: string;
  readonly object: TypedObject;
}

export interface TypedObject {
  readonly typeName: string;
  readonly description: string;
  readonly fields: readonly TypedField[];
  readonly fieldsByName: ReadonlyMap<string, TypedField>;
  /** The references of other collections that point here. */
  readonly referrers: readonly TypedReferrers[];
}

/** A field with the records of a collection whose reference at `path` points to the record. */
export interface TypedReferrers {
  readonly name: string;
  readonly collection: string;
  readonly path: Path;
  readonly description: string;
}

export interface TypedField {
  /** The name in GraphQL; `field.name` is the stored name. */
  readonly name: string;
  readonly field: Field;
  /** The kind of the value; for a list, of its elements. */
  readonly value: TypedValue;
  readonly description: string;
}

export type TypedValue =
  | { readonly kind: ScalarName | 'json' }
  | TypedEnum
  | { readonly kind: 'object'; readonly object: TypedObject }
  | TypedReference;

export interface TypedEnum {
  readonly kind: 'enum';
  readonly typeName: string;
  readonly namesByValue: ReadonlyMap<string, string>;
  readonly description: string;
}

/** `{id, label, record}`; `record` is a union where the reference may point to several collections. */
export interface TypedReference {
  readonly kind: 'reference';
  readonly typeName: string;
  /** The type of `record`: the target's own, or a union. */
  readonly unionName: string;
  /** Names of collections in the catalog, in the order they are looked into. */
  readonly targets: readonly string[];
  /** One of the targets. Looked up only when all collections are named, because references form cycles. */
  readonly findTarget: (collection: string) => TypedCollection | undefined;
}

/** The names that the static part of the schema uses. */
export interface TakenNames {
  readonly typeNames: ReadonlySet<string>;
  readonly rootFields: ReadonlySet<string>;
}

/** The names shared by all collections of a model. */
interface Naming {
  /** The name of each collection's type. */
  readonly typeNames: ReadonlyMap<string, string>;
  readonly names: Names;
  readonly findTarget: TypedReference['findTarget'];
}

/** The fields of every typed record in addition to its own. */
const RECORD_PARTS: ReadonlySet<string> = new Set(['id', 'nodeId', 'version', 'createdAt', 'updatedAt']);

/**
 * Names the typed schema. A name that is already taken, by the static part or an earlier collection, is
 * replaced by another, so that no declaration can break the schema. Collections declared in files come first:
 * those registered at run time take none of their names. A collection that declares no fields has no typed
 * form, only the generic one.
 */
export function createTypedModel(
  collections: readonly Collection[],
  taken: TakenNames,
  pages: PageSizes,
): TypedModel {
  const names = new Names(taken);
  // All collections are named before their members, which refer to collections by name.
  const claims = collections
    .filter((collection) => collection.fields.length > 0)
    .sort((a, b) => Number(b.isDeclared) - Number(a.isDeclared) || (a.name < b.name ? -1 : 1))
    .map((collection) => ({ collection, ...names.claimCollection(collection) }));
  const typeNames = new Map(claims.map((claim) => [claim.collection.name, claim.typeName]));
  const byCollection = new Map<string, TypedCollection>();
  const context = { typeNames, names, findTarget: (name: string) => byCollection.get(name) };
  const typed = claims.map((claim) => toTypedCollection(claim, context));
  for (const one of typed) byCollection.set(one.collection.name, one);
  return { collections: typed, byCollection, pages };
}

/** The suffixes of a collection's other types. */
const TYPE_SUFFIXES: readonly string[] = [
  ...['Connection', 'Edge', 'Change', 'WhereInput', 'OrderByInput', 'SortField'],
  ...['Batch', 'Key', 'NumbersInput', 'BoundsInput', 'ListsInput'],
  ...['Group', 'GroupKey', 'GroupField', 'GroupOrderByInput', 'HavingInput'],
];

/** The suffixes of the types of an object within a record. */
const OBJECT_SUFFIXES: readonly string[] = ['Input', 'NumbersInput', 'BoundsInput', 'ListsInput'];
/** The suffixes of the inputs for conditions on a reference. */
const REFERENCE_SUFFIXES: readonly string[] = ['ConditionInput', 'ListConditionInput', 'RecordInput'];

class Names {
  readonly #types: Set<string>;
  readonly #roots: Set<string>;
  readonly #references = new Map<string, { typeName: string; unionName: string }>();

  constructor(taken: TakenNames) {
    this.#types = new Set(taken.typeNames);
    this.#roots = new Set(taken.rootFields);
  }

  /** Claims the name of a type, and those with the suffixes, all at once. */
  claimType(name: string, suffixes: readonly string[] = []): string {
    for (let number = 1; ; number += 1) {
      const typeName = number === 1 ? name : `${name}_${number}`;
      const types = ['', ...suffixes].map((suffix) => typeName + suffix);
      if (types.some((type) => this.#types.has(type))) continue;
      for (const type of types) this.#types.add(type);
      return typeName;
    }
  }

  /** References to the same collections share a type. */
  claimReference(targetTypeNames: readonly string[]): { typeName: string; unionName: string } {
    const unionName = targetTypeNames.join('Or');
    return getOrMake(this.#references, unionName, () => ({
      typeName: this.claimType(`${unionName}Reference`, REFERENCE_SUFFIXES),
      unionName: targetTypeNames.length > 1 ? this.claimType(unionName) : unionName,
    }));
  }

  /** The names of one collection are claimed together: all are free, or all are changed. */
  claimCollection(collection: Collection): { singular: string; plural: string; typeName: string } {
    for (let attempt = 1; ; attempt += 1) {
      const { singular, plural } = candidate(collection, attempt);
      const typeName = toTypeName(singular);
      const types = [
        typeName,
        ...TYPE_SUFFIXES.map((suffix) => typeName + suffix),
        ...['Create', 'Update'].map((verb) => `${verb}${typeName}Input`),
      ];
      const roots = [
        singular,
        `${singular}Changed`,
        ...['', 'Aggregate', 'Distinct'].map((suffix) => plural + suffix),
        ...['create', 'update', 'delete', 'upsert'].flatMap((verb) => [
          verb + typeName,
          verb + toTypeName(plural),
        ]),
      ];
      if (singular === plural || isInheritedName(singular) || isInheritedName(plural)) continue;
      if (types.some((name) => this.#types.has(name)) || roots.some((name) => this.#roots.has(name)))
        continue;
      for (const name of types) this.#types.add(name);
      for (const name of roots) this.#roots.add(name);
      return { singular, plural, typeName };
    }
  }
}

function candidate(collection: Collection, attempt: number): { singular: string; plural: string } {
  if (attempt === 1) return collection;
  const number = attempt === 2 ? '' : String(attempt - 1);
  return {
    singular: `${collection.singular}Record${number}`,
    plural: `${collection.singular}Records${number}`,
  };
}

function toTypedCollection(
  claim: {
    readonly collection: Collection;
    readonly singular: string;
    readonly plural: string;
    readonly typeName: string;
  },
  naming: Naming,
): TypedCollection {
  const { collection, singular, plural, typeName } = claim;
  const description = [collection.description || `A record of the collection ${collection.name}.`];
  if (collection.description) description.push(`Stored in the collection \`${collection.name}\`.`);
  return {
    collection,
    singular,
    plural,
    object: toTypedObject({
      typeName,
      description: description.join(' '),
      fields: collection.fields,
      taken: RECORD_PARTS,
      naming,
    }),
  };
}

function toTypedObject(options: {
  readonly typeName: string;
  readonly description: string;
  readonly fields: readonly Field[];
  readonly taken: ReadonlySet<string>;
  readonly naming: Naming;
}): TypedObject {
  const { typeName, description, fields, taken, naming } = options;
  const fieldNames = distinctGraphqlNames(
    fields.map((field) => toFieldName(field.name)),
    // `and`, `or` and `not` combine conditions in the type's where input.
    [...taken, 'and', 'or', 'not'],
  );
  const typed = fields.map((field, index): TypedField => {
    const name = fieldNames[index] ?? field.name;
    return {
      name,
      field,
      value: toTypedValue(field, typeName, naming),
      description: describe(field, name),
    };
  });
  return {
    typeName,
    description,
    fields: typed,
    fieldsByName: new Map(typed.map((one) => [one.name, one])),
    referrers: [],
  };
}

function toTypedValue(field: Field, owner: string, naming: Naming): TypedValue {
  const { typeNames, names, findTarget } = naming;
  const kind = valueKindOf(field);
  switch (kind) {
    case 'reference': {
      const targets = field.targets.filter((target) => typeNames.has(target));
      const claimed = names.claimReference(targets.map((target) => typeNames.get(target) ?? target));
      return { kind: 'reference', ...claimed, targets, findTarget };
    }
    case 'object': {
      if (field.fields.length === 0) return { kind: 'json' };
      const stem = field.isList ? toSingular(field.name) : field.name;
      const typeName = names.claimType(owner + toTypeName(stem), OBJECT_SUFFIXES);
      const description = field.description || `The ${field.name} of ${withArticle(owner)}.`;
      return {
        kind: 'object',
        object: toTypedObject({
          typeName,
          description,
          fields: field.fields,
          taken: new Set(),
          naming,
        }),
      };
    }
    default:
      return field.allowed ? toTypedEnum(field, field.allowed, owner, names) : { kind };
  }
}

function toTypedEnum(field: Field, allowed: readonly string[], owner: string, names: Names): TypedEnum {
  const valueNames = distinctGraphqlNames(allowed.map(toEnumValueName));
  return {
    kind: 'enum',
    typeName: names.claimType(owner + toTypeName(field.name)),
    namesByValue: new Map(allowed.map((value, index) => [value, valueNames[index] ?? value])),
    description: field.description || `The values of ${field.name}.`,
  };
}

/** The description of a field: its meaning, an example, its unit, and its stored name. */
function describe(field: Field, name: string): string {
  const parts = [field.description || `The ${field.name}.`];
  if (field.unit) parts.push(`Unit: ${field.unit}.`);
  if (field.bounds) parts.push(`Allowed: ${describeBounds(field.bounds)}.`);
  if (field.example !== undefined) parts.push(`Example: ${JSON.stringify(field.example)}.`);
  if (field.name !== name) parts.push(`Stored as \`${field.name}\`.`);
  return parts.join(' ');
}

/**
 * Adds to each collection the fields with the records that point to it. A field is named after the other
 * collection, `tasks`, or if that is taken also after the reference, `tasksByManager`. Only references at the
 * top of a record count, and not those in lists.
 */
export function withReferrers(model: TypedModel): TypedModel {
  const collections = model.collections.map((target): TypedCollection => {
    const taken = new Set([...RECORD_PARTS, ...target.object.fieldsByName.keys()]);
    const referrers = model.collections.flatMap((source) => listReferrers(source, target, taken));
    return { ...target, object: { ...target.object, referrers } };
  });
  return {
    ...model,
    collections,
    byCollection: new Map(collections.map((one) => [one.collection.name, one])),
  };
}

function listReferrers(
  source: TypedCollection,
  target: TypedCollection,
  taken: Set<string>,
): readonly TypedReferrers[] {
  return source.object.fields.flatMap(({ field, value, name: fieldName }): readonly TypedReferrers[] => {
    if (value.kind !== 'reference' || field.isList) return [];
    if (!value.targets.includes(target.collection.name)) return [];
    const byField = `${toFieldName(source.plural)}By${toTypeName(field.name)}`;
    const name = [source.plural, byField].find((candidate) => !taken.has(candidate));
    // Fields of the record have both names already; there is no third one.
    if (name === undefined) return [];
    taken.add(name);
    return [
      {
        name,
        collection: source.collection.name,
        path: [field.name],
        description:
          `The ${source.plural} whose \`${fieldName}\` is this ${target.object.typeName}, a page at a ` +
          'time.',
      },
    ];
  });
}
