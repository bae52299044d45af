/**
 * The GraphQL schema: the resolvers of `resolvers.ts`, and typed fields for each collection of the catalog.
 * It is rebuilt whenever a collection changes.
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
import type { StoredFieldsByType } from '../../base/model/stored-field.js';
import { CACHE_CONTROL_DIRECTIVE } from '../resolvers/cached-for.js';
import type { PageSizes } from '../resolvers/page-arguments.js';
import { RESOLVER_CLASSES } from '../resolvers/resolvers.js';
import { sortParameters, sortRootFields, withRunTimeTypes } from '../resolvers/run-time-types.js';
import { ImportChangesResolver } from './live/import-changes.js';
import { LiveResolver } from './live/live-resolver.js';
import { ReportChangesResolver } from './live/report-changes.js';
import { readPrintableFields } from './operation/printable-fields.js';
import { TRANSACTION_DIRECTIVE } from './operation/transaction.js';
import { createAggregateResolver } from './typed/aggregate/aggregate-resolver.js';
import { MEASURE_TYPE_NAMES, MeasureTypes } from './typed/aggregate/measure-types.js';
import { createTypedBulkResolver } from './typed/bulk/typed-bulk-resolver.js';
import { createChangesResolver } from './typed/changes-resolver.js';
import { LevelLoader } from './typed/level-loader.js';
import { listStoredFields } from './typed/list-stored-fields.js';
import { NodeResolver } from './typed/node-resolver.js';
import { createReferenceResolver } from './typed/reference-resolver.js';
import { createReferrersResolver } from './typed/referrers/referrers-resolver.js';
import { withReferrers } from './typed/referrers/with-referrers.js';
import { createSubgraphResolver } from './typed/subgraph-resolver.js';
import { createTypedModel, type TypedModel } from './typed/typed-model.js';
import { createTypedResolver, type TypedServices } from './typed/typed-resolver.js';
import { TypedTypes } from './typed/typed-types.js';
import { WhereInputs } from './typed/where-inputs.js';

/** Subscriptions exist only in GraphQL, because they need a persistent connection. */
const SUBSCRIPTION_CLASSES = [ReportChangesResolver, ImportChangesResolver, LiveResolver] as const;

export interface SchemaParts {
  readonly collections: readonly Collection[];
  /** Resolver classes of other rooms, e.g. the reports. */
  readonly otherClasses: readonly NewableFunction[];
  /**
   * Provides the instance of a resolver class, at execution only. `typed` has those that the factory created.
   */
  readonly instanceOf: (resolverClass: NewableFunction) => object;
  /** The services of generated resolvers; absent if the schema is only printed. */
  readonly services?: TypedServices;
  /** Makes it a subgraph of a supergraph, whose schema these roles may read. */
  readonly subgraph?: { readonly introspectionRoles: readonly string[] } | undefined;
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
}

/** Builds the schema of these collections, in some tens of milliseconds. */
export function buildGatewaySchema(parts: SchemaParts): GatewaySchema {
  return withRunTimeTypes(() => {
    const pages = parts.services?.pages ?? NO_PAGES;
    const model = withReferrers(createTypedModel(parts.collections, takenNames(), pages));
    const typed = createTypedResolvers(model, parts.subgraph);
    const instances = parts.services ? typed.createInstances(parts.services) : new Map();
    sortParameters();
    const classes = [
      ...RESOLVER_CLASSES,
      ...SUBSCRIPTION_CLASSES,
      NodeResolver,
      ...parts.otherClasses,
      ...typed.classes,
    ] as const;
    sortRootFields(classes);
    const subscriptions = new Map<NewableFunction, object>(
      SUBSCRIPTION_CLASSES.map((one) => [one, new one()]),
    );
    const schema = buildSchemaSync({
      resolvers: classes,
      container: {
        get: (resolverClass) =>
          instances.get(resolverClass) ?? subscriptions.get(resolverClass) ?? parts.instanceOf(resolverClass),
      },
      directives: [...STANDARD_DIRECTIVES, CACHE_CONTROL_DIRECTIVE, TRANSACTION_DIRECTIVE],
      pubSub: NO_PUB_SUB,
      validate: false,
      skipCheck: true,
    });
    letRootFieldsFail(schema);
    return { schema: readPrintableFields(schema), storedFields: listStoredFields(model) };
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

/** Unused: a printed schema has no pages. */
const NO_PAGES: PageSizes = { defaultPageSize: 0, maxPageSize: 0 };

interface TypedResolvers {
  readonly classes: readonly NewableFunction[];
  createInstances(services: TypedServices): ReadonlyMap<NewableFunction, object>;
}

function createTypedResolvers(model: TypedModel, subgraph: SchemaParts['subgraph']): TypedResolvers {
  const types = new TypedTypes(model);
  const whereInputs = new WhereInputs(types);
  const measures = new MeasureTypes();
  const ofCollections = model.collections.flatMap((typed) => {
    const records = createTypedResolver(typed, { model, types, whereInputs });
    const parts = { model, types, whereInputs, measures };
    const groups = createAggregateResolver(typed, parts);
    const bulk = createTypedBulkResolver(typed, parts);
    return groups ? [records, bulk, groups] : [records, bulk];
  });
  const ofChanges = model.collections.map((typed) =>
    createChangesResolver(typed, { model, types, whereInputs }),
  );
  const ofReferrers = model.collections.flatMap((typed) =>
    typed.object.referrers.flatMap((referrers) => {
      const parts = { model, types, whereInputs };
      const resolverClass = createReferrersResolver(referrers, typed, parts);
      return resolverClass ? [resolverClass] : [];
    }),
  );
  const ofReferences = types.references.flatMap(({ reference, type }) => {
    const resolverClass = createReferenceResolver(reference, type, { model, types });
    return resolverClass ? [resolverClass] : [];
  });
  const isSubgraph = subgraph !== undefined && model.collections.length > 0;
  const ofSubgraph = isSubgraph ? [createSubgraphResolver(model, types)] : [];
  return {
    classes: [...ofCollections, ...ofChanges, ...ofReferences, ...ofReferrers, ...ofSubgraph],
    createInstances(services) {
      const loader = new LevelLoader(services.records);
      return new Map<NewableFunction, object>([
        [NodeResolver, new NodeResolver(services, model)] as const,
        ...ofCollections.map((one) => [one, new one(services)] as const),
        ...ofChanges.map((one) => [one, new one()] as const),
        ...ofReferences.map((one) => [one, new one(loader)] as const),
        ...ofReferrers.map((one) => [one, new one(loader)] as const),
        ...ofSubgraph.map((one) => [one, new one(services, subgraph?.introspectionRoles ?? [])] as const),
      ]);
    },
  };
}

/** The names used by the static part of the schema. */
function takenNames(): { readonly typeNames: ReadonlySet<string>; readonly rootFields: ReadonlySet<string> } {
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
    rootFields: new Set(
      [...storage.queries, ...storage.mutations, ...storage.subscriptions].map((field) => field.schemaName),
    ),
  };
}
