/**
 * The GraphQL schema: the resolvers of `resolvers.ts`, and the fields on records, of any collection and of
 * each one of the catalog. It is rebuilt whenever a collection changes.
 */
import {
  DirectiveLocation,
  GraphQLDirective,
  type GraphQLSchema,
  getNullableType,
  specifiedDirectives,
  specifiedScalarTypes,
} from 'graphql';
import { buildSchemaSync, getMetadataStorage, type PubSub } from 'type-graphql';
import type { Collection } from '../../base/model/collection.js';
import type { StoredField, StoredFieldsByType } from '../../base/model/stored-field.js';
import type { TypeClass } from '../../base/scalars/declared-type.js';
import { reports } from '../../school/reports/registry.js';
import { CACHE_CONTROL_DIRECTIVE } from '../resolvers/cached-for.js';
import { RESOLVER_CLASSES } from '../resolvers/resolvers.js';
import { createResolverClass, sortRootFields, withRunTimeTypes } from '../resolvers/run-time-types.js';
import { type ScriptFieldServices, withScriptFields } from '../resolvers/script-fields.js';
import { BranchResolver } from '../resolvers/services/branch-resolver.js';
import {
  NEEDED_BY_SERVICES,
  type NeededRight,
  type NeededRights,
} from '../resolvers/services/caller-reach.js';
import { LiveResolver, StateChangesResolver } from './live/live-resolver.js';
import { TRANSACTION_DIRECTIVE } from './operation/transaction.js';
import { listAggregateFields } from './typed/aggregate/aggregate-fields.js';
import { createAggregateQueries } from './typed/aggregate/aggregate-queries.js';
import { MEASURE_TYPE_NAMES, MeasureTypes } from './typed/aggregate/aggregate-types.js';
import { createFindNodes, createNodeResolver, type FindNodes } from './typed/find-nodes.js';
import { createGenericResolvers } from './typed/generic-resolvers.js';
import { createRecordFields, neededByFields, type RecordServices } from './typed/record-fields.js';
import { createReferenceResolver, createReferrersResolver, LevelLoader } from './typed/reference-resolver.js';
import { createSubgraphResolver, type SubgraphOptions } from './typed/subgraph-resolver.js';
import { createTypedApi, type TypedParts } from './typed/typed-api.js';
import {
  createTypedModel,
  type TakenNames,
  type TypedCollection,
  type TypedModel,
  withReferrers,
} from './typed/typed-model.js';
import { sortablePaths, TypedTypes } from './typed/typed-types.js';
import { WhereInputs } from './typed/where-inputs.js';

export interface SchemaParts {
  readonly collections: readonly Collection[];
  /** The resolver classes of the reports. */
  readonly reports: readonly TypeClass[];
  /** Provides the instance of a class of `RESOLVER_CLASSES`, at execution only. */
  readonly instanceOf: (resolverClass: NewableFunction) => object;
  /** The services that the fields on records use. */
  readonly services: RecordServices;
  /** Makes it a subgraph of a supergraph, whose schema these roles may read as far as they may know it. */
  readonly subgraph?: SubgraphOptions | undefined;
  /** Gives the fields that scripts declare. Default: none. */
  readonly scripts?: ScriptFieldServices;
}

/**
 * Without `@deprecated` on directives, which graphql-js 16.15 added: older clients, such as Python's
 * graphql-core up to 3.2.8, cannot read a schema with a location that they do not know.
 */
const STANDARD_DIRECTIVES = specifiedDirectives.map((directive) => {
  const locations = directive.locations.filter((one) => one !== DirectiveLocation.DIRECTIVE_DEFINITION);
  return new GraphQLDirective({ ...directive.toConfig(), locations });
});

export interface GatewaySchema {
  readonly schema: GraphQLSchema;
  /** The stored fields behind the names of the schema. */
  readonly storedFields: StoredFieldsByType;
  readonly needed: NeededRights;
}

/** Builds the schema of these collections, in some tens of milliseconds. */
export function buildGatewaySchema(parts: SchemaParts): GatewaySchema {
  return withRunTimeTypes(() => {
    const { services } = parts;
    const generic = createGenericResolvers(services);
    const model = withReferrers(createTypedModel(parts.collections, takenNames(), services.pages));
    const types = new TypedTypes(model);
    const findNodes = createFindNodes(services, model);
    const needed = new Map<string, readonly NeededRight[]>([
      ...NEEDED_BY_SERVICES,
      ...reports.map(({ name, field }) => [field, [{ report: name }]] as const),
      ...generic.needed,
      ...model.collections.flatMap(neededByTypes),
    ]);
    const made = [
      // Subscriptions exist only in GraphQL, because they need a persistent connection.
      StateChangesResolver,
      generic.changes,
      LiveResolver,
      createNodeResolver(services, findNodes),
      ...parts.reports,
      ...createTypedResolvers(
        { model, types, whereInputs: new WhereInputs(types) },
        { ...parts, findNodes, needed },
      ),
    ];
    const classes = [
      generic.records,
      ...RESOLVER_CLASSES.flatMap((one) => (one === BranchResolver ? [one, ...generic.bulk] : [one])),
      ...made,
    ] as const;
    sortRootFields(classes);
    const instances = new Map<NewableFunction, object>(
      [generic.records, ...generic.bulk, ...made].map((one) => [one, new one()]),
    );
    const built = buildSchemaSync({
      resolvers: classes,
      container: { get: (resolverClass) => instances.get(resolverClass) ?? parts.instanceOf(resolverClass) },
      directives: [...STANDARD_DIRECTIVES, CACHE_CONTROL_DIRECTIVE, TRANSACTION_DIRECTIVE],
      pubSub: NO_PUB_SUB,
      validate: false,
      skipCheck: true,
    });
    const schema = parts.scripts ? withScriptFields(built, parts.scripts, needed) : built;
    letRootFieldsFail(schema);
    // Only the types of whole records: a part of an object is reached through the object's field.
    const storedFields = new Map(model.collections.flatMap((typed) => membersOf(typed, model)));
    return { schema, storedFields, needed };
  });
}

/**
 * Makes every root field nullable: if one fails, the others keep their answers, and a mutation that was
 * carried out is not answered by `data: null`. The two of Apollo Federation keep the types of its
 * specification.
 */
function letRootFieldsFail(schema: GraphQLSchema): void {
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      if (!field.name.startsWith('_')) field.type = getNullableType(field.type);
    }
  }
}

/** TypeGraphQL requires one if there are subscriptions; each of ours has a source of its own. */
const NO_PUB_SUB: PubSub = {
  publish: () => {},
  subscribe: () => {
    throw new Error('subscriptions of this schema have a `subscribe` of their own');
  },
};

/** The classes of the fields of declared collections, in the order in which the schema shows them. */
function createTypedResolvers(
  parts: TypedParts,
  {
    services,
    subgraph,
    findNodes,
    needed,
  }: Pick<SchemaParts, 'services' | 'subgraph'> & {
    readonly findNodes: FindNodes;
    /** Receives what the fields need. */
    readonly needed: Map<string, readonly NeededRight[]>;
  },
): readonly TypeClass[] {
  const { model, types } = parts;
  const measures = new MeasureTypes();
  const levels = { loader: new LevelLoader(), records: services.records };
  const ofCollections = model.collections.flatMap((typed) => {
    const api = createTypedApi(typed, parts);
    const { shown, changed, ...fields } = createRecordFields(api, services);
    const groups = createAggregateQueries(typed, { ...parts, measures }, services);
    const needing = { ...fields, changed, ...Object.fromEntries(groups.map((one) => [one.name, one])) };
    for (const [name, rights] of neededByFields(needing, typed.collection.name)) needed.set(name, rights);
    return [
      createResolverClass([...Object.values(fields), ...groups, changed]),
      createResolverClass([shown], api.types.batch),
    ];
  });
  const ofReferrers = model.collections.flatMap((typed) =>
    typed.object.referrers.flatMap(
      (referrers) => createReferrersResolver(referrers, typed, parts, levels) ?? [],
    ),
  );
  const ofReferences = types.references.flatMap(
    (reference) => createReferenceResolver(reference, parts, levels) ?? [],
  );
  const isSubgraph = subgraph !== undefined && model.collections.length > 0;
  const entities = { pages: services.pages, findNodes };
  const ofSubgraph = isSubgraph ? [createSubgraphResolver(parts, { ...entities, ...subgraph })] : [];
  return [...ofCollections, ...ofReferences, ...ofReferrers, ...ofSubgraph];
}

function takenNames(): TakenNames {
  const storage = getMetadataStorage();
  return {
    typeNames: new Set([
      ...['Query', 'Mutation', 'Subscription', 'JSON', 'Decimal', 'DateTime', 'LocalDate', 'Month'],
      ...MEASURE_TYPE_NAMES,
      ...specifiedScalarTypes.map((scalar) => scalar.name),
      ...storage.objectTypes.map((type) => type.name),
      ...storage.inputTypes.map((type) => type.name),
      ...storage.interfaceTypes.map((type) => type.name),
      ...storage.enums.map((type) => type.name),
      ...storage.unions.map((type) => type.name),
    ]),
    rootFields: new Set([
      ...['node', 'nodes'],
      ...[...storage.queries, ...storage.mutations, ...storage.subscriptions].map((one) => one.schemaName),
    ]),
  };
}

/** The types of records and of their pages: all others of a collection are reached through its fields. */
function neededByTypes({ collection: { name: collection }, object: { typeName } }: TypedCollection) {
  return [
    [typeName, [{ verbs: [], collection }]],
    [`${typeName}Connection`, [{ verbs: ['read'], collection }]],
  ] as const;
}

/** A type's name with its members. */
type TypeMembers = readonly [string, ReadonlyMap<string, readonly StoredField[]>];

function membersOf(typed: TypedCollection, model: TypedModel): readonly TypeMembers[] {
  const { collection, object } = typed;
  const { typeName } = object;
  const toStored = (field = '', verb?: 'create' | 'update'): StoredField => ({
    ...{ collection: collection.name, field },
    ...(verb && { verb }),
  });
  const fieldsFor = (verb?: 'create' | 'update') =>
    new Map(object.fields.map((one) => [one.name, [toStored(one.field.name, verb)]]));
  const [fields, changed] = [fieldsFor(), fieldsFor('update')];
  const referrers = object.referrers.map(({ name, collection: of, path: [reference = ''] }) => {
    const stored: readonly StoredField[] = [{ collection: of, field: reference }];
    return [name, stored] as const;
  });
  const { keys, own } = listAggregateFields(typed, model);
  const measured = new Map(own.map(({ name, path }) => [name, [toStored(path[0])]]));
  const grouped = keys.map(({ name, enumName, key: { path, of } }) => {
    const target = of ? [{ collection: of.collection, field: of.path[0] ?? '' }] : [];
    return { name, enumName, stored: [toStored(path[0]), ...target] };
  });
  const sorted = sortablePaths(object).map(({ name, path }) => [name, [toStored(path[0])]] as const);
  return [
    [typeName, new Map<string, readonly StoredField[]>([...fields, ...referrers])],
    [`${typeName}WhereInput`, fields],
    [`Create${typeName}Input`, fieldsFor('create')],
    [`Update${typeName}Input`, changed],
    ...['NumbersInput', 'BoundsInput', 'ListsInput'].map((suffix) => [typeName + suffix, changed] as const),
    [`${typeName}Group`, measured],
    [`${typeName}HavingInput`, measured],
    [`${typeName}GroupKey`, new Map(grouped.map(({ name, stored }) => [name, stored]))],
    [`${typeName}GroupField`, new Map(grouped.map(({ enumName, stored }) => [enumName, stored]))],
    [`${typeName}SortField`, new Map(sorted)],
  ];
}
