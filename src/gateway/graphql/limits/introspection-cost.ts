/** The cost of introspection: the number of objects that it prints, which is known beforehand. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isObjectType,
  Kind,
  parse,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';

/** The whole schema costs at most this part of the limit, so that every tool can read it once. */
const MOST_OF_SCHEMA = 4 / 5;

const WHOLE = parse(
  getIntrospectionQuery({
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  }),
  { noLocation: true },
);

export function isIntrospectionField(name: string): boolean {
  return name === SchemaMetaFieldDef.name || name === TypeMetaFieldDef.name;
}

/** The cost of a field `__schema` or `__type`, whose arguments are given. */
export function introspectionCost(
  field: FieldNode,
  { served, document, args, maxCost }: IntrospectionRequest,
): number {
  const objects = new PrintedObjects(served.schema, document).count(field, args);
  return Math.ceil(objects * Math.min(1, (maxCost * MOST_OF_SCHEMA) / served.objects));
}

interface IntrospectionRequest {
  /** The schema, and how many objects an introspection of the whole of it prints. */
  readonly served: { readonly schema: GraphQLSchema; readonly objects: number };
  readonly document: DocumentNode;
  readonly args: Args;
  readonly maxCost: number;
}

/** How many objects an introspection of the whole schema prints. */
export function objectsOfSchema(schema: GraphQLSchema): number {
  const [operation] = WHOLE.definitions;
  const [field] = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections : [];
  return field?.kind === Kind.FIELD ? new PrintedObjects(schema, WHOLE).count(field, {}) : 0;
}

type Args = Readonly<Record<string, unknown>>;

/**
 * Counts with the resolvers of introspection. The count of each selection of an object is cached, so that the
 * time for deep nesting is limited by the size of the schema.
 */
class PrintedObjects {
  readonly #info: Pick<GraphQLResolveInfo, 'schema'>;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #counts = new Map<SelectionSetNode, Map<unknown, number>>();

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.#info = { schema };
    const found = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(found.map((fragment) => [fragment.name.value, fragment]));
  }

  count(node: FieldNode, args: Args): number {
    const definition = node.name.value === TypeMetaFieldDef.name ? TypeMetaFieldDef : SchemaMetaFieldDef;
    return this.#countField(definition, { node, source: undefined, args });
  }

  #countField(
    definition: GraphQLField<unknown, unknown>,
    { node, source, args }: { readonly node: FieldNode; readonly source: unknown; readonly args: Args },
  ): number {
    const type = getNamedType(definition.type);
    if (!isObjectType(type) || !node.selectionSet || !definition.resolve) return 0;
    // The resolvers of introspection read nothing but the schema.
    const value = definition.resolve(source, args, undefined, this.#info as GraphQLResolveInfo);
    const objects: readonly unknown[] = Array.isArray(value) ? value : [value];
    const { selectionSet } = node;
    const isFlat = selectionSet.selections.every((one) => one.kind === Kind.FIELD && !one.selectionSet);
    let count = 0;
    for (const object of objects) {
      if (object === undefined || object === null) continue;
      count += isFlat ? 1 : 1 + this.#countIn(selectionSet, type, object);
    }
    return count;
  }

  #countIn(selectionSet: SelectionSetNode, type: GraphQLObjectType, source: unknown): number {
    const counts = this.#counts.get(selectionSet) ?? new Map<unknown, number>();
    this.#counts.set(selectionSet, counts);
    const known = counts.get(source);
    if (known !== undefined) return known;
    let count = 0;
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) {
        const field = type.getFields()[selection.name.value];
        // Deprecated members count even if the document leaves them out.
        const args = { includeDeprecated: true };
        if (field) count += this.#countField(field, { node: selection, source, args });
      } else {
        const inner =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value);
        if (inner) count += this.#countIn(inner.selectionSet, type, source);
      }
    }
    counts.set(source, count);
    return count;
  }
}
