/**
 * Generates the queries of the operations library for dashboard tiles: the variables of each, the shape of
 * its answer, and the report or the records behind it.
 */
import {
  type ArgumentNode,
  type FieldNode,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  typeFromAST,
  type ValueNode,
} from 'graphql';
import { toEnumValueName, toFieldName } from '../base/languages/graphql-names.js';
import type { ListedShape, TileOperation, TileSource } from './browser/dashboards/tile-operation.js';
import type { AskedParameter } from './browser/reports/askable-report.js';
import type { ExampleOperation } from './explore/example-operation.js';
import type { FieldShape } from './explore/result-tables.js';
import { isOperation, shapeOfOperation } from './explore/shape-of-operation.js';
import { askedType } from './generate-report-forms.js';

/** The parts of a declaration in schema/collections from which GraphQL names are derived. */
interface DeclaredNames {
  readonly name: string;
  readonly singular?: string;
  readonly plural?: string;
  readonly fields: readonly DeclaredFieldNames[];
}

interface DeclaredFieldNames {
  readonly name: string;
  readonly enum?: readonly string[];
  readonly fields?: readonly DeclaredFieldNames[];
}

export interface TileOperationsOptions {
  readonly schema: GraphQLSchema;
  readonly library: readonly ExampleOperation[];
  readonly collections: readonly DeclaredNames[];
}

/** Returns the queries with one report or one collection, because a tile links to it. */
export function generateTileOperations(options: TileOperationsOptions): readonly TileOperation[] {
  return options.library.flatMap((example) => {
    const document = parse(example.document);
    const [operation] = document.definitions.filter(isOperation);
    const [root, ...others] = operation?.selectionSet.selections ?? [];
    if (example.kind !== 'query' || root?.kind !== Kind.FIELD || others.length > 0) return [];
    const source = sourceOf(root, options);
    if (!operation || !source) return [];
    const { name, title, description, topic, variables } = example;
    const shape = shapeOfOperation({ document, operationName: undefined, schema: options.schema });
    return [
      {
        ...{ name, title, description, topic, document: example.document, variables, source },
        parameters: parametersOf(operation, root, options.schema),
        shape: listShape(shape),
        moneyPaths: leafPathsOf(shape, options.schema, isMoney),
        enumPaths: [...leafPathsOf(shape, options.schema, isEnum), ...distinctEnumPaths(root, options)],
      },
    ];
  });
}

function sourceOf(root: FieldNode, { schema, collections }: TileOperationsOptions): TileSource | undefined {
  const field = schema.getQueryType()?.getFields()[root.name.value];
  if (field && getNamedType(field.type).name.endsWith('Report')) return { kind: 'report', field: field.name };
  const collection = collections.find((one) => fieldsOfList(one).includes(root.name.value));
  if (!collection) return undefined;
  const passedAs = (name: string) => root.arguments?.find((one) => one.name.value === name)?.value;
  const [where, oquery] = [passedAs('where'), passedAs('oquery')];
  return {
    kind: 'collection',
    name: collection.name,
    where: where ? toStored(where, { fields: collection.fields }) : null,
    oquery: oquery?.kind === Kind.VARIABLE ? oquery.name.value : null,
  };
}

/** The queries of many records of a collection. */
function fieldsOfList({ name, singular = toFieldName(name), plural }: DeclaredNames): readonly string[] {
  const list = plural ?? `${singular}s`;
  return [list, `${list}Aggregate`, `${list}Distinct`];
}

/** A condition of the typed `where` as the `where` by stored names has it. */
function toStored(value: ValueNode, at: Partial<DeclaredFieldNames>): unknown {
  switch (value.kind) {
    case Kind.OBJECT:
      return Object.fromEntries(
        value.fields.map(({ name, value: inner }) => {
          const field = at.fields?.find((one) => toFieldName(one.name) === name.value);
          return [field?.name ?? name.value, toStored(inner, field ?? at)];
        }),
      );
    case Kind.LIST:
      return value.values.map((element) => toStored(element, at));
    case Kind.VARIABLE:
      return { $variable: value.name.value };
    case Kind.ENUM:
      return at.enum?.find((one) => toEnumValueName(one) === value.value) ?? value.value;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(value.value);
    case Kind.NULL:
      return null;
    default:
      return value.value;
  }
}

/** Cursors belong to one answer, and tiles do not continue lists. */
const CURSORS = new Set(['after', 'before']);

function parametersOf(
  { variableDefinitions = [] }: OperationDefinitionNode,
  root: FieldNode,
  schema: GraphQLSchema,
): readonly AskedParameter[] {
  const variables = variableDefinitions.filter(({ variable }) => !CURSORS.has(variable.name.value));
  return variables.map(({ variable: { name }, type, defaultValue }): AskedParameter => {
    const declared = typeFromAST(schema, type);
    if (!declared) throw new Error(`no type ${print(type)}`);
    return {
      name: name.value,
      isRequired: type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined,
      description: descriptionOf(name.value, root, schema),
      ...askedType(getNamedType(declared)),
    };
  });
}

/** The description of the argument that receives the variable unchanged. */
function descriptionOf(variable: string, root: FieldNode, schema: GraphQLSchema): string {
  const isPassed = ({ value }: ArgumentNode) => value.kind === Kind.VARIABLE && value.name.value === variable;
  const name = root.arguments?.find(isPassed)?.name.value;
  const field = schema.getQueryType()?.getFields()[root.name.value];
  return field?.args.find((argument) => argument.name === name)?.description ?? '';
}

const isMoney: FieldTest = ({ description }) => /in the currency|Unit: INR/i.test(description ?? '');
const isEnum: FieldTest = ({ type }) => getNamedType(type) instanceof GraphQLEnumType;

function listShape({ type, isList, fields }: FieldShape): ListedShape {
  return { type, isList, fields: [...fields].map(([name, inner]) => [name, listShape(inner)]) };
}

/** The schema types distinct values as text, whatever their field, so enum fields are found by name. */
function distinctEnumPaths(root: FieldNode, { collections }: TileOperationsOptions): readonly string[] {
  const asked = root.arguments?.find(({ name }) => name.value === 'field')?.value;
  const collection = collections.find((one) => fieldsOfList(one)[2] === root.name.value);
  if (asked?.kind !== Kind.ENUM || !collection) return [];
  const field = collection.fields.find(({ name }) => toEnumValueName(name) === asked.value);
  return field?.enum ? [`${(root.alias ?? root.name).value}.value`] : [];
}

type FieldTest = (field: GraphQLField<unknown, unknown>) => boolean;

/** The paths of the leaves whose field in the schema passes the test. */
function leafPathsOf(shape: FieldShape, schema: GraphQLSchema, isMeant: FieldTest): readonly string[] {
  const type = shape.type === undefined ? undefined : schema.getType(shape.type);
  return [...shape.fields].flatMap(([name, inner]) => {
    const field = isObjectType(type) ? type.getFields()[name] : undefined;
    if (inner.fields.size === 0) return field && isMeant(field) ? [name] : [];
    return leafPathsOf(inner, schema, isMeant).map((rest) => `${name}.${rest}`);
  });
}
