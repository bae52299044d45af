/** Derives the shape of an answer from the document and the schema. Needs no browser. */
import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { type FieldShape, UNKNOWN_LEAF } from './result-tables.js';

/**
 * The shape of one operation's `data`. Without a schema (a role that may not introspect) the types stay
 * unknown.
 */
export function shapeOfOperation(options: {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly schema: GraphQLSchema | undefined;
}): FieldShape {
  const operations = options.document.definitions.filter(isOperation);
  const operation = operations.find(({ name }) => name?.value === options.operationName) ?? operations[0];
  if (!operation) return UNKNOWN_LEAF;
  const fields = new Map<string, FieldShape>();
  const typeName = options.schema?.getRootType(operation.operation)?.name;
  addSelections(fields, operation.selectionSet, typeName, options);
  return { type: typeName, isList: false, fields };
}

export function isOperation(definition: DefinitionNode): definition is OperationDefinitionNode {
  return definition.kind === Kind.OPERATION_DEFINITION;
}

/** Fields of fragments are added to those of the selection, whatever their type condition. */
function addSelections(
  fields: Map<string, FieldShape>,
  set: SelectionSetNode,
  parent: string | undefined,
  source: Parameters<typeof shapeOfOperation>[0],
): void {
  for (const selection of set.selections) {
    switch (selection.kind) {
      case Kind.FIELD: {
        const key = selection.alias?.value ?? selection.name.value;
        const type = typeOfField(source.schema, parent, selection.name.value);
        const inner = new Map(fields.get(key)?.fields);
        const named = type && getNamedType(type).name;
        if (selection.selectionSet) addSelections(inner, selection.selectionSet, named, source);
        fields.set(key, {
          type: named,
          isList: type !== undefined && isListType(getNullableType(type)),
          fields: inner,
        });
        break;
      }
      case Kind.INLINE_FRAGMENT:
        addSelections(fields, selection.selectionSet, selection.typeCondition?.name.value ?? parent, source);
        break;
      case Kind.FRAGMENT_SPREAD: {
        const fragment = source.document.definitions.find(
          (definition) =>
            definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
        );
        if (fragment?.kind === Kind.FRAGMENT_DEFINITION)
          addSelections(fields, fragment.selectionSet, fragment.typeCondition.name.value, source);
      }
    }
  }
}

function typeOfField(
  schema: GraphQLSchema | undefined,
  parent: string | undefined,
  field: string,
): GraphQLOutputType | undefined {
  const type = parent === undefined ? undefined : schema?.getType(parent);
  if (!isCompositeType(type) || !(isObjectType(type) || isInterfaceType(type))) return undefined;
  return type.getFields()[field]?.type;
}
