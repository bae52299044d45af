/**
 * Generates the classes from which TypeGraphQL builds the typed schema: one for each object type, input, enum
 * and union of the model.
 */

import { createUnionType, ID, Int } from 'type-graphql';
import { toEnumValueName, withArticle } from '../../../base/languages/graphql-names.js';
import { mustBeSent } from '../../../base/model/collection.js';
import type { ScalarName } from '../../../base/model/field-types/scalar-types.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import {
  enumOf,
  field,
  InputTypes,
  inputType,
  member,
  nullable,
  objectType,
  type TypeClass,
  type TypeReference,
} from '../../../base/scalars/declared-type.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { PageInfo, SortDirection } from '../../resolvers/records/generic-record.js';
import { Node, TYPE_NAME } from '../../resolvers/records/node.js';
import { SCALAR_FORMS, type ScalarForm } from './scalar-forms.js';
import type {
  TypedCollection,
  TypedEnum,
  TypedField,
  TypedModel,
  TypedObject,
  TypedReference,
  TypedValue,
} from './typed-model.js';

export class TypedTypes {
  readonly #model: TypedModel;
  readonly #objects = new Map<string, TypeClass>();
  readonly #inputs = new InputTypes();
  readonly #orders = new Map<string, TypeClass>();
  readonly #connections = new Map<string, TypeClass>();
  readonly #enums = new Map<string, object>();
  readonly #references = new Map<string, { readonly reference: TypedReference; readonly type: TypeClass }>();

  constructor(model: TypedModel) {
    this.#model = model;
    // All record types first, because references form cycles.
    for (const { object } of model.collections) {
      this.#objects.set(
        object.typeName,
        objectType(object.typeName, object.description, {}, { implements: Node }),
      );
    }
    for (const typed of model.collections) this.#defineRecord(typed);
  }

  /** The reference types, whose `record` is resolved separately. */
  get references(): readonly { readonly reference: TypedReference; readonly type: TypeClass }[] {
    return [...this.#references.values()];
  }

  record(typed: TypedCollection): TypeClass {
    const type = this.#objects.get(typed.object.typeName);
    if (!type) throw new Error(`no type ${typed.object.typeName}`);
    return type;
  }

  /** The connection and edge of a collection. */
  connection(typed: TypedCollection): TypeClass {
    const { typeName } = typed.object;
    return getOrMake(this.#connections, typeName, () => {
      const node = this.record(typed);
      const edge = objectType(`${typeName}Edge`, `One of the ${typed.plural} of a page, with its cursor.`, {
        node: member.of(node, `The ${typeName}.`),
        cursor: member.text('The place of the record in the order, for `after` and `before`.'),
      });
      const { title, name } = typed.collection;
      const records = title === name ? typed.plural : `${title.toLowerCase()} (${typed.plural})`;
      return objectType(`${typeName}Connection`, `A page of ${records}.`, {
        nodes: member.list(node, 'The records of the page, in order.'),
        edges: member.list(edge, 'The records of the page with a cursor each.'),
        pageInfo: member.of(PageInfo, 'The position of the page in the order.'),
        totalCount: member.whole(
          'How many records match in all, on every page. Counted only when this field is selected.',
        ),
      });
    });
  }

  /** The input of a record's creation or update. */
  createInput(typed: TypedCollection, verb: 'Create' | 'Update'): TypeClass {
    const { typeName, fields } = typed.object;
    const isCreation = verb === 'Create';
    const description = isCreation
      ? `The fields of a new ${typeName}.`
      : `The fields of ${withArticle(typeName)} to change; null removes one.`;
    return this.#inputs.define(`${verb}${typeName}Input`, description, (input) => {
      if (isCreation) {
        field(input, 'id', () => ID, {
          nullable: true,
          description: 'The id, 1 to 64 of A-Z, a-z, 0-9, `_`, `.`, `:`, `-`. Left out: a new one is made.',
        });
      }
      for (const one of fields) this.#inputField(input, one, isCreation);
    });
  }

  /** The input of one sort key, with the enum of sortable fields, whose values are dotted paths. */
  orderBy(typed: TypedCollection): TypeClass | undefined {
    const { typeName } = typed.object;
    const paths = sortablePaths(typed.object);
    if (paths.length === 0) return undefined;
    return getOrMake(this.#orders, typeName, () => {
      const sortFields = enumOf(
        `${typeName}SortField`,
        `What ${typed.plural} can be ordered by.`,
        paths.map(({ name, path, description }) => [name, path.join('.'), description]),
      );
      const description = `One key of an order of ${typed.plural}. Ties are broken by the id.`;
      return inputType(`${typeName}OrderByInput`, description, {
        field: member.of(sortFields, 'The field to order by.'),
        direction: member.of(SortDirection, 'Ascending if left out.', {
          defaultValue: SortDirection.ASCENDING,
        }),
      });
    });
  }

  enumOf(value: TypedEnum): object {
    const { typeName, description, namesByValue } = value;
    return getOrMake(this.#enums, typeName, () => {
      const rows = [...namesByValue].map(
        ([stored, name]) => [name, stored, `Stored as "${stored}".`] as const,
      );
      return enumOf(typeName, description, rows);
    });
  }

  #defineRecord(typed: TypedCollection): void {
    const type = this.record(typed);
    const { typeName, fields } = typed.object;
    field(type, 'id', () => ID, { description: `Names the ${typeName}; stored as \`_id\`.` });
    for (const one of fields) this.#objectField(type, one);
    field(type, 'version', () => Int, {
      description:
        'Starts at 1 and increases by one with every change. Send it as `ifVersion` to avoid ' +
        'overwriting a change made in the meantime.',
    });
    field(type, 'createdAt', () => DateTime, { description: 'When the record was stored first.' });
    field(type, 'updatedAt', () => DateTime, { description: 'When the record was changed last.' });
  }

  #objectField(type: TypeClass, one: TypedField): void {
    const value = this.#outputType(one.value);
    field(type, one.name, () => (one.field.isList ? [value] : value), {
      nullable: true,
      description: one.description,
      ...(one.field.deprecated !== undefined && { deprecationReason: one.field.deprecated }),
    });
  }

  #outputType(value: TypedValue): TypeReference {
    switch (value.kind) {
      case 'enum':
        return this.enumOf(value);
      case 'object':
        return this.#memberObject(value.object);
      case 'reference':
        return this.#reference(value);
      default:
        return scalarOf(value.kind);
    }
  }

  #memberObject(object: TypedObject): TypeClass {
    const type = objectType(object.typeName, object.description);
    for (const one of object.fields) this.#objectField(type, one);
    return type;
  }

  #reference(reference: TypedReference): TypeClass {
    return getOrMake(this.#references, reference.typeName, () => {
      const targets = reference.targets.map(
        (name) => this.#model.byCollection.get(name)?.object.typeName ?? name,
      );
      const description = `Points to ${targets.map(withArticle).join(' or ') || 'a record'}.`;
      const type = objectType(reference.typeName, description, {
        id: nullable.id('The id of the record it points to; stored as `value`.'),
        label: nullable.text('The label of the record when the reference was written.'),
      });
      return { reference, type };
    }).type;
  }

  /** The type of a reference's `record`; `undefined` if no target is in the catalog. */
  targetType(reference: TypedReference): TypeReference | undefined {
    const types = reference.targets.flatMap((name) => {
      const typed = this.#model.byCollection.get(name);
      return typed ? [this.record(typed)] : [];
    });
    const [only] = types;
    if (types.length < 2) return only;
    return createUnionType({
      name: reference.unionName,
      description: 'The collections that a reference of this kind may point to.',
      types: () => types,
      resolveType: (source: { readonly [TYPE_NAME]?: string }) => source[TYPE_NAME],
    });
  }

  #inputField(input: TypeClass, one: TypedField, mayRequire: boolean): void {
    const value = this.inputOf(one.value);
    const isRequired = mayRequire && mustBeSent(one.field);
    field(input, one.name, () => (one.field.isList ? [value] : value), {
      nullable: !isRequired,
      description: one.description,
      ...(one.field.deprecated !== undefined && !isRequired && { deprecationReason: one.field.deprecated }),
    });
  }

  /** The input type of a value; for a list, of its elements. */
  inputOf(value: TypedValue): TypeReference {
    switch (value.kind) {
      case 'enum':
        return this.enumOf(value);
      case 'object': {
        const { typeName, description, fields } = value.object;
        return this.#inputs.define(`${typeName}Input`, description, (input) => {
          for (const one of fields) this.#inputField(input, one, true);
        });
      }
      case 'reference':
        return ReferenceInput;
      default:
        return scalarOf(value.kind);
    }
  }
}

const ReferenceInput = inputType('ReferenceInput', 'Points to a record.', {
  id: member.id('The id of the record.'),
  label: nullable.text('The label. Left out: the current name of the record.'),
});

/** The scalar for a kind of value. */
function scalarOf(kind: ScalarName | 'json'): ScalarForm['scalar'] {
  return kind === 'json' ? GraphqlJsonScalar : SCALAR_FORMS[kind].scalar;
}

interface SortablePath {
  readonly name: string;
  readonly path: readonly string[];
  readonly description: string;
}

/** The scalar values, at the top and within objects; a reference is sorted by its label. */
export function sortablePaths(
  object: TypedObject,
  prefix: SortablePath = NO_PREFIX,
): readonly SortablePath[] {
  return object.fields.flatMap((one): readonly SortablePath[] => {
    if (one.field.isList || one.value.kind === 'json') return [];
    const name = toEnumValueName(`${prefix.name} ${one.field.name}`);
    const path = [...prefix.path, one.field.name];
    if (one.value.kind === 'object') return sortablePaths(one.value.object, { name, path, description: '' });
    if (one.value.kind !== 'reference') return [{ name, path, description: one.description }];
    return [{ name, path: [...path, 'label'], description: `By its label. ${one.description}` }];
  });
}

const NO_PREFIX: SortablePath = { name: '', path: [], description: '' };
