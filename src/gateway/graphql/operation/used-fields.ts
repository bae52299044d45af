/**
 * Finds the stored fields that an operation uses, by the typed part of the schema: from its document, once,
 * and from its variables each time, if their types are inputs of a collection.
 */
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInputType,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Scope } from '../../../base/model/scope.js';
import type { StoredField, StoredFieldsByType } from '../../../base/model/stored-field.js';
import type { FieldMeter } from '../../../store/catalog/field-uses.js';

/** The schema, and the stored fields behind its names. */
interface Named {
  readonly schema: GraphQLSchema;
  readonly storedFields: StoredFieldsByType;
}

export interface UsedFieldsPlan {
  /** The fields named in the document. */
  readonly fields: readonly StoredField[];
  /** The variables whose values may name more fields. */
  readonly variables: readonly { readonly name: string; readonly type: GraphQLInputType }[];
}

/**
 * How many values of a request's variables are examined: an import of 10,000 records reveals little more than
 * one.
 */
const MOST_VALUES = 200;

/**
 * Records the fields used by an operation of an authenticated caller. An unnamed operation is recorded by its
 * route, like a REST request.
 */
export function noteUsedFields(
  request: {
    readonly prepared: {
      readonly operation: OperationDefinitionNode;
      readonly usedFields: UsedFieldsPlan;
      readonly served: Named;
    };
    readonly variables: Readonly<Record<string, unknown>>;
    readonly context: { readonly scope: Scope | undefined };
  },
  meter: Pick<FieldMeter, 'note'>,
): void {
  const { prepared, context, variables } = request;
  const { operation, usedFields, served } = prepared;
  if (!context.scope) return;
  const name = operation.name?.value ?? context.scope.call.operation ?? '';
  for (const fields of [usedFields.fields, fieldsInVariables(served, usedFields, variables)]) {
    if (fields.length > 0) meter.note(context.scope, name, fields);
  }
}

export function planUsedFields(
  named: Named,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): UsedFieldsPlan {
  // Leaves out other operations, and the fragments that only they use.
  const own = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  return {
    fields: fieldsInDocument(named, own),
    variables: (operation.variableDefinitions ?? []).flatMap(({ variable, type: node }) => {
      const type = typeFromAST(named.schema, node);
      return isInputType(type) && !isLeafOfNoCollection(named, type)
        ? [{ name: variable.name.value, type }]
        : [];
    }),
  };
}

function isLeafOfNoCollection({ storedFields }: Named, type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  return !isInputObjectType(named) && !storedFields.has(named.name);
}

function fieldsInDocument(named: Named, document: DocumentNode): readonly StoredField[] {
  const found: StoredField[] = [];
  const { schema } = named;
  const typeInfo = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field({ name }) {
        found.push(...storedBehind(named, typeInfo.getParentType()?.name, name.value));
      },
      ObjectField({ name }) {
        found.push(...storedBehind(named, getNamedType(typeInfo.getParentInputType())?.name, name.value));
      },
      EnumValue({ value }) {
        found.push(...storedBehind(named, getNamedType(typeInfo.getInputType())?.name, value));
      },
    }),
  );
  return [...new Set(found)];
}

function fieldsInVariables(
  served: Named,
  { variables }: UsedFieldsPlan,
  values: Readonly<Record<string, unknown>>,
): readonly StoredField[] {
  const found: StoredField[] = [];
  let left = MOST_VALUES;
  const look = (type: GraphQLInputType, value: unknown): void => {
    left -= 1;
    if (left < 0 || value === null) return;
    if (Array.isArray(value)) {
      for (const element of value) {
        if (left <= 0) return;
        look(type, element);
      }
      return;
    }
    const named = getNamedType(type);
    if (isEnumType(named) && typeof value === 'string')
      found.push(...storedBehind(served, named.name, value));
    if (!isInputObjectType(named) || typeof value !== 'object') return;
    const members = named.getFields();
    for (const [name, member] of Object.entries(value)) {
      const declared = Object.hasOwn(members, name) ? members[name] : undefined;
      if (declared === undefined) continue;
      found.push(...storedBehind(served, named.name, name));
      look(declared.type, member);
    }
  };
  for (const { name, type } of variables) {
    if (Object.hasOwn(values, name)) look(type, values[name]);
  }
  return [...new Set(found)];
}

/** The stored fields behind a member of a type. */
function storedBehind(
  { storedFields }: Pick<Named, 'storedFields'>,
  typeName: string | undefined,
  member: string,
) {
  return storedFields.get(typeName ?? '')?.get(member) ?? [];
}
