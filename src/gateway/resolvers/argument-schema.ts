/** The variables and the answer of an operation as the JSON Schemas of a tool's arguments and result. */
import {
  type ConstValueNode,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLNamedOutputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isOutputType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  typeFromAST,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** A JSON Schema, as far as we write one. */
type ArgumentSchema = Readonly<Record<string, unknown>>;

export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ArgumentSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
  /** The input types that the properties refer to, by name. */
  readonly $defs?: Readonly<Record<string, ArgumentSchema>>;
}

export interface AnswerSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ArgumentSchema>>;
}

export interface DescribedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly filterVariables: readonly { readonly variable: string }[];
}

/**
 * One property per variable: its type with the values of an enum, the description of the argument that it is
 * passed to, its default. The variable of a filter is required, because it is refused when missing. `first`
 * and `last` are limited to `maxRows`. Input types are listed once under `$defs`, because they may be
 * recursive.
 */
export function describeArguments(described: DescribedOperation, maxRows = MAX_INT): ArgumentsSchema {
  const { schema, operation } = described;
  const usages = describeUsages(described);
  const types = new Map<string, ArgumentSchema>();
  const properties: Record<string, ArgumentSchema> = {};
  const required = new Set(described.filterVariables.map(({ variable }) => variable));
  for (const { variable, type: typeNode, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    // A valid document refers only to input types.
    const type = typeFromAST(schema, typeNode) as GraphQLInputType;
    const description = usages.get(name);
    properties[name] = {
      ...describeInput(type, types),
      ...(description !== undefined && { description }),
      ...(defaultValue && { default: valueFromASTUntyped(defaultValue) }),
      ...(isPageSize(name) && describePageSize(defaultValue, maxRows)),
    };
    if (isNonNullType(type) && !defaultValue) required.add(name);
  }
  return {
    type: 'object',
    properties,
    required: [...required],
    additionalProperties: false,
    ...(types.size > 0 && { $defs: Object.fromEntries(types) }),
  };
}

/** The data that the operation answers with. Members of fragments and conditional ones may be missing. */
export function describeData({ schema, document, operation }: DescribedOperation): AnswerSchema {
  const fragments = new Map(
    document.definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet] as const] : [],
    ),
  );
  const propertiesOf = (
    type: GraphQLNamedOutputType | null | undefined,
    { selections }: SelectionSetNode,
  ): Record<string, ArgumentSchema> => {
    const properties: Record<string, ArgumentSchema> = {};
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const selected = fragments.get(selection.name.value);
        if (selected) Object.assign(properties, propertiesOf(type, selected));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const name = selection.typeCondition?.name.value;
        const inner = name === undefined ? type : schema.getType(name);
        if (isOutputType(inner)) Object.assign(properties, propertiesOf(inner, selection.selectionSet));
      } else {
        const { name, alias, selectionSet } = selection;
        const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name.value] : undefined;
        properties[(alias ?? name).value] = field ? outputOf(field.type, selectionSet) : { type: 'string' };
      }
    }
    return properties;
  };
  const outputOf = (type: GraphQLOutputType, selected: SelectionSetNode | undefined): ArgumentSchema => {
    if (isNonNullType(type)) return requiredOf(type.ofType, selected);
    const present = requiredOf(type, selected);
    return typeof present.type === 'string' ? { ...present, type: [present.type, 'null'] } : present;
  };
  const requiredOf = (type: GraphQLOutputType, selected: SelectionSetNode | undefined): ArgumentSchema => {
    if (isListType(type)) return { type: 'array', items: outputOf(type.ofType, selected) };
    const named = getNamedType(type);
    if (selected) return { type: 'object', properties: propertiesOf(named, selected) };
    return isEnumType(named) ? { type: 'string' } : { ...SCALARS.get(named.name) };
  };
  return {
    type: 'object',
    properties: propertiesOf(schema.getRootType(operation.operation), operation.selectionSet),
  };
}

function describePageSize(defaultValue: ConstValueNode | undefined, maxRows: number): ArgumentSchema {
  const usual = defaultValue?.kind === Kind.INT ? Number(defaultValue.value) : undefined;
  return {
    minimum: 0,
    maximum: maxRows,
    ...(usual !== undefined && { default: Math.min(usual, maxRows) }),
  };
}

/** Whether a variable is a page size. */
export function isPageSize(variable: string): boolean {
  return variable === 'first' || variable === 'last';
}

/** The description of the argument, or input field, that a variable is passed to. */
function describeUsages({ schema, document }: DescribedOperation): ReadonlyMap<string, string> {
  const usages = new Map<string, string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Variable(node) {
        const description = types.getArgument()?.description;
        const { value } = node.name;
        if (description && !usages.has(value)) usages.set(value, description);
      },
    }),
  );
  return usages;
}

/** Adds the schemas of input types to `types`. */
function describeInput(type: GraphQLInputType, types: Map<string, ArgumentSchema>): ArgumentSchema {
  if (isNonNullType(type)) return describeInput(type.ofType, types);
  if (isListType(type)) return { type: 'array', items: describeInput(type.ofType, types) };
  return describeNamed(getNamedType(type), types);
}

function describeNamed(type: GraphQLNamedInputType, types: Map<string, ArgumentSchema>): ArgumentSchema {
  const { name } = type;
  const description = type.description ? { description: type.description } : {};
  if (isInputObjectType(type)) {
    if (!types.has(name)) {
      // Added before its fields, which may refer to the same type.
      types.set(name, {});
      const fields = Object.values(type.getFields());
      types.set(name, {
        type: 'object',
        ...description,
        properties: Object.fromEntries(
          fields.map((field) => [
            field.name,
            {
              ...describeInput(field.type, types),
              ...(field.description && { description: field.description }),
              ...(field.defaultValue !== undefined && { default: field.defaultValue }),
            },
          ]),
        ),
        required: fields
          .filter((field) => isNonNullType(field.type) && field.defaultValue === undefined)
          .map((field) => field.name),
        additionalProperties: false,
      });
    }
    return { $ref: `#/$defs/${name}` };
  }
  if (isEnumType(type)) {
    return { type: 'string', enum: type.getValues().map((value) => value.name), ...description };
  }
  return { ...SCALARS.get(name), ...(BUILT_IN.has(name) ? {} : description) };
}

/** The JSON types of the schema's scalars; any other scalar accepts any value. */
const SCALARS: ReadonlyMap<string, ArgumentSchema> = new Map<string, ArgumentSchema>([
  ['Int', { type: 'integer' }],
  ['Float', { type: 'number' }],
  ['String', { type: 'string' }],
  ['ID', { type: 'string' }],
  ['Boolean', { type: 'boolean' }],
  ['LocalDate', { type: 'string', format: 'date' }],
  ['Month', { type: 'string', pattern: '^[0-9]{4}-[0-9]{2}$' }],
  ['DateTime', { type: 'string' }],
  ['Decimal', { type: 'string' }],
]);

const MAX_INT = 2_147_483_647;
const BUILT_IN: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'ID', 'Boolean']);
