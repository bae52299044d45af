/** Prints the schema for composition by Apollo Federation 2. */
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  printSchema,
} from 'graphql';

/** These types are the same in every subgraph that follows Relay. */
const SHARED_TYPES: ReadonlySet<string> = new Set(['PageInfo']);
/** The specification adds these itself. */
const SUBGRAPH_NAMES: ReadonlySet<string> = new Set(['_Any', '_Entity', '_Service', '_entities', '_service']);

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

/** The schema with `@key(fields: "id")` on the named types. */
export function printSubgraph(schema: GraphQLSchema, keyed: ReadonlySet<string>): string {
  const { definitions } = parse(printSchema(schema), { noLocation: true });
  const shown = definitions.flatMap((definition) => withDirectives(definition, keyed));
  return [LINK, ...shown.map(print)].join('\n\n');
}

function withDirectives(definition: DefinitionNode, keyed: ReadonlySet<string>): readonly DefinitionNode[] {
  if ('name' in definition && SUBGRAPH_NAMES.has(definition.name?.value ?? '')) return [];
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return [definition];
  const fields = definition.fields?.filter((field) => !SUBGRAPH_NAMES.has(field.name.value)) ?? [];
  const name = definition.name.value;
  const directives = [
    ...(definition.directives ?? []),
    ...(keyed.has(name) ? [directive('key', { fields: 'id' })] : []),
    ...(SHARED_TYPES.has(name) ? [directive('shareable', {})] : []),
  ];
  return [{ ...definition, fields, directives }];
}

function directive(name: string, args: Readonly<Record<string, string>>): ConstDirectiveNode {
  return {
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: name },
    arguments: Object.entries(args).map(([argument, value]) => ({
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: argument },
      value: { kind: Kind.STRING, value },
    })),
  };
}
