/**
 * Converts a document's selection on typed records to the `Shape` that the database prints. graphql-js's path
 * derives its projection from the same shape, so that both read the same fields.
 */
import { type FieldNode, getArgumentValues, isObjectType } from 'graphql';
import type { Path } from '../../../base/model/path.js';
import type { Member, ReferrersShape, Shape } from '../../../store/sql/shape.js';
import { type PageArguments, toPageRequest, toSort } from '../../resolvers/page-arguments.js';
import { recordPart } from '../../resolvers/records/node.js';
import { type RecordForm, selectedMembers, toPageShape } from '../../resolvers/records/page-shape.js';
import { toFilter } from '../../resolvers/records/record-resolver.js';
import type { SelectionInfo } from '../../resolvers/records/selection.js';
import { type SelectingArguments, toRequest } from './record-fields.js';
import { SCALAR_FORMS } from './scalar-forms.js';
import type {
  TypedCollection,
  TypedField,
  TypedModel,
  TypedObject,
  TypedReferrers,
  TypedValue,
} from './typed-model.js';
import { type TypedSource, toTypedRecord } from './typed-source.js';

interface ShapeContext {
  readonly model: TypedModel;
  readonly info: SelectionInfo;
}

/** The members of a typed record selected by the selection sets of `nodes`. */
function selectedRecordMembers(
  { object, collection }: TypedCollection,
  nodes: readonly FieldNode[],
  context: ShapeContext,
): readonly Member[] {
  return objectMembers(object, nodes, context, (name, fieldNodes) => {
    const referrers = object.referrers.find((one) => one.name === name);
    const source = referrers && context.model.byCollection.get(referrers.collection);
    if (!source) return recordPart(name, { form: 'typed', collection: collection.name });
    return toReferrersShape(referrers, { typeName: object.typeName, source, nodes: fieldNodes, ...context });
  });
}

function objectMembers(
  object: TypedObject,
  nodes: readonly FieldNode[],
  context: ShapeContext,
  other: (name: string, nodes: readonly FieldNode[]) => Shape | undefined,
): readonly Member[] {
  return selectedMembers(object.typeName, nodes, context.info, (name, fieldNodes) => {
    const typed = object.fieldsByName.get(name);
    return typed ? fieldShape(typed, fieldNodes, context) : other(name, fieldNodes);
  });
}

function fieldShape(typed: TypedField, nodes: readonly FieldNode[], context: ShapeContext): Shape {
  const path = [typed.field.name];
  if (!typed.field.isList) return valueShape(typed.value, path, nodes, context);
  return { kind: 'list', path, element: valueShape(typed.value, [], nodes, context) };
}

function valueShape(
  value: TypedValue,
  path: Path,
  nodes: readonly FieldNode[],
  context: ShapeContext,
): Shape {
  switch (value.kind) {
    case 'enum':
      return { kind: 'enum', path, namesByValue: value.namesByValue };
    case 'object':
      return {
        kind: 'object',
        path,
        members: objectMembers(value.object, nodes, context, () => undefined),
      };
    case 'reference':
      return { kind: 'object', path, members: referenceMembers(value, nodes, context) };
    case 'json':
      return { kind: 'json', path };
    default:
      return { kind: SCALAR_FORMS[value.kind].printed, path };
  }
}

function referenceMembers(
  reference: Extract<TypedValue, { kind: 'reference' }>,
  nodes: readonly FieldNode[],
  context: ShapeContext,
): readonly Member[] {
  return selectedMembers(reference.typeName, nodes, context.info, (name, fieldNodes) => {
    switch (name) {
      case 'id':
        return { kind: 'text', path: ['value'] };
      case 'label':
        return { kind: 'text', path: ['label'] };
      case 'record':
        return { kind: 'target', path: [], targets: targetsOf(reference, fieldNodes, context) };
      default:
        return undefined;
    }
  });
}

function targetsOf(
  reference: Extract<TypedValue, { kind: 'reference' }>,
  nodes: readonly FieldNode[],
  context: ShapeContext,
): readonly { readonly collection: string; readonly members: readonly Member[] }[] {
  return reference.targets.flatMap((name) => {
    const target = context.model.byCollection.get(name);
    return target ? [{ collection: name, members: selectedRecordMembers(target, nodes, context) }] : [];
  });
}

/** How GraphQL represents the records of a declared collection. */
export function typedForm(typed: TypedCollection, model: TypedModel): RecordForm<TypedSource> {
  return {
    typeName: typed.object.typeName,
    toNode: (record) => toTypedRecord(record, typed),
    members: (nodes, info) => selectedRecordMembers(typed, nodes, { model, info }),
  };
}

/**
 * @throws as the arguments of a page do: MALFORMED_FILTER, INVALID_VALUE, LIMIT_EXCEEDED (400). The cursor of
 *   another order is detected when it is read.
 */
export function toReferrersShape(
  referrers: TypedReferrers,
  selected: ShapeContext & {
    /** The type of the record they point to. */
    readonly typeName: string;
    readonly source: TypedCollection;
    readonly nodes: readonly FieldNode[];
  },
): ReferrersShape {
  const { typeName, source, nodes, model, info } = selected;
  const { collection, object: whereNames } = source;
  const args = argumentsOf(typeName, nodes, info);
  return {
    kind: 'referrers',
    collection: collection.name,
    path: referrers.path,
    filter: toFilter(toRequest(args, { collection: collection.name, whereNames }), collection, {
      findCollection: (name) => model.byCollection.get(name)?.collection,
    }),
    sort: toSort(args.orderBy) ?? [],
    ...toPageRequest(args, model.pages),
    page: toPageShape(typedForm(source, model), { ...info, fieldNodes: nodes }),
  };
}

/** The arguments as coerced by graphql-js. */
function argumentsOf(
  typeName: string,
  [node]: readonly FieldNode[],
  info: SelectionInfo,
): PageArguments & SelectingArguments {
  const type = info.schema.getType(typeName);
  const definition = node && isObjectType(type) ? type.getFields()[node.name.value] : undefined;
  if (!node || !definition) throw new Error(`${typeName} has no such field`);
  return getArgumentValues(definition, node, info.variableValues);
}
