/**
 * The fields of a subgraph: its schema (`_service`), and the records that other subgraphs refer to
 * (`_entities`). Only in the schema with the setting FEDERATION.
 *
 * @see https://www.apollographql.com/docs/graphos/reference/federation/subgraph-spec
 */

import {
  type ConstDirectiveNode,
  type DefinitionNode,
  GraphQLScalarType,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  printSchema,
} from 'graphql';
import { createUnionType } from 'type-graphql';
import { invalidAt, type ServiceError } from '../../../base/errors.js';
import { isRecordId } from '../../../base/model/record-id.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { member, objectType } from '../../../base/scalars/declared-type.js';
import { assertPageSize, type PageSizes } from '../../resolvers/page-arguments.js';
import type { NodePlace } from '../../resolvers/records/node.js';
import { PRINTABLE_FIELD } from '../../resolvers/records/printable.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { createResolverClass, type FieldCall } from '../../resolvers/run-time-types.js';
import { assertIntrospectionRole } from '../limits/permitted.js';
import { type FindNodes, printedList } from './find-nodes.js';
import type { TypedModel } from './typed-model.js';
import type { TypedTypes } from './typed-types.js';

const ANY = new GraphQLScalarType({
  name: '_Any',
  description: 'A record as another subgraph names it: {"__typename": "Task", "id": "T-7"}.',
});

const SubgraphService = objectType('_Service', 'What a supergraph is composed of.', {
  sdl: member.text('The schema, with the keys of its types.'),
});

export interface SubgraphOptions {
  /** The roles that may read the schema. */
  readonly introspectionRoles: readonly string[];
  /** The part of the schema that the caller may know. */
  readonly schemaFor: (context: RequestContext) => GraphQLSchema;
}

/** The model has types: without them there are no entities. */
export function createSubgraphResolver(
  { model, types }: { readonly model: TypedModel; readonly types: TypedTypes },
  {
    pages,
    findNodes,
    introspectionRoles,
    schemaFor,
  }: SubgraphOptions & { readonly pages: PageSizes; readonly findNodes: FindNodes },
) {
  const byTypeName = new Map(model.collections.map((typed) => [typed.object.typeName, typed]));
  const entity = createUnionType({
    name: '_Entity',
    description: 'The types that other subgraphs may name by their key.',
    types: () => model.collections.map((typed) => types.record(typed)),
  });
  const printed = new WeakMap<GraphQLSchema, string>();

  /** `undefined` for an id that no record can have: it comes from another subgraph's data. */
  function placeOf(representation: unknown, parameter: string): NodePlace | undefined {
    const { __typename: typeName, id } = Object(representation);
    const typed = byTypeName.get(typeName);
    if (typed === undefined) throw wrong(parameter, 'its __typename is not a type with a key', typeName);
    if (typeof id !== 'string') throw wrong(parameter, 'its id is not a text', id);
    return isRecordId(id) ? { form: 'typed', collection: typed.collection.name, id } : undefined;
  }

  return createResolverClass([
    {
      kind: 'query',
      name: '_service',
      description: 'The schema for composition into a supergraph. For callers who may introspect.',
      type: SubgraphService,
      run(_args: object, { context }: FieldCall) {
        assertIntrospectionRole(context, introspectionRoles);
        const schema = schemaFor(context);
        return { sdl: getOrMake(printed, schema, () => printSubgraph(schema, new Set(byTypeName.keys()))) };
      },
    },
    {
      kind: 'query',
      name: '_entities',
      description:
        'Records that other subgraphs name, in the order they are named, one statement a type; null where ' +
        'there is none that you may read. Errors: LIMIT_EXCEEDED for more than a page has records.',
      type: [entity],
      nullable: 'items',
      arguments: { representations: { type: [ANY], description: 'Each has `__typename` and `id`.' } },
      extensions: PRINTABLE_FIELD,
      run({ representations }: { readonly representations: readonly unknown[] }, call: FieldCall) {
        assertPageSize('representations', representations.length, pages);
        const places = representations.map((one, index) => placeOf(one, `representations.${index}`));
        return printedList(findNodes(places, call));
      },
    },
  ]);
}

function wrong(parameter: string, detail: string, sent: unknown): ServiceError {
  const expected = 'an object such as {"__typename": "Task", "id": "T-7"}';
  return invalidAt(`${parameter}: ${detail}; ${expected} is expected`, {
    parameter,
    detail,
    expected,
    sent: typeof sent === 'string' ? sent.slice(0, 80) : null,
  });
}

/** These types are the same in every subgraph that follows Relay. */
const SHARED_TYPES: ReadonlySet<string> = new Set(['PageInfo']);
/** The specification adds these itself. */
const SUBGRAPH_NAMES: ReadonlySet<string> = new Set(['_Any', '_Entity', '_Service', '_entities', '_service']);

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

/** The schema with `@key(fields: "id")` on the named types. */
function printSubgraph(schema: GraphQLSchema, keyed: ReadonlySet<string>): string {
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
    ...(keyed.has(name) ? KEY : []),
    ...(SHARED_TYPES.has(name) ? SHAREABLE : []),
  ];
  return [{ ...definition, fields, directives }];
}

function directivesOf(written: string): readonly ConstDirectiveNode[] {
  const [type] = parse(`type Example ${written}`, { noLocation: true }).definitions;
  return type?.kind === Kind.OBJECT_TYPE_DEFINITION ? (type.directives ?? []) : [];
}

const KEY = directivesOf('@key(fields: "id")');
const SHAREABLE = directivesOf('@shareable');
