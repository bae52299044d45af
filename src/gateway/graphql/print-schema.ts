/** Prints schema/schema.graphql: the schema over the declared collections, without a database. */
import 'reflect-metadata';
import { type GraphQLSchema, printSchema } from 'graphql';
import type { Collection } from '../../base/model/collection.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import { parseCollection, readDefinitions } from '../../store/catalog/parse-collection.js';
import type { RecordResolver } from '../resolvers/records/record-resolver.js';
import { createReportResolvers } from '../resolvers/reports/report-resolvers.js';
import { withRunTimeTypes } from '../resolvers/run-time-types.js';
import { buildGatewaySchema } from './schema.js';

/**
 * `directory` holds the declarations, one file per collection. @throws INVALID_VALUE for a faulty declaration
 */
export async function printGatewaySchema(directory: string): Promise<string> {
  return `${printSchema(buildIdleSchema(await readCollections(directory)))}\n`;
}

/** The schema over these collections, without the fields of scripts. It runs nothing. */
export function buildIdleSchema(collections: readonly Collection[]): GraphQLSchema {
  return withRunTimeTypes(() => {
    const reports = createReportResolvers({
      ...NO_PAGES,
      database: unused(),
      store: unused(),
      domains: unused(),
      now: unused,
    });
    return buildGatewaySchema({ collections, reports, ...UNUSED_SERVICES }).schema;
  });
}

/**
 * The collections declared in a directory, without a database. @throws INVALID_VALUE for a faulty declaration
 */
export async function readCollections(directory: string): Promise<readonly Collection[]> {
  const definitions = await readDefinitions(directory);
  return definitions.map((definition) =>
    parseCollection(definition, { source: definition.name, isDeclared: true, version: 1 }),
  );
}

const NO_PAGES = { defaultPageSize: 0, maxPageSize: 0 };

/** A service for a schema that is only printed: it runs nothing. */
function unused<Service extends object>(): Service {
  const get = () => {
    throw new Error('this schema is for printing');
  };
  return new Proxy({}, { get }) as Service;
}

/** For a schema that runs nothing. */
export const UNUSED_SERVICES = {
  instanceOf: unused,
  services: { records: unused<RecordResolver>(), catalog: unused<Catalog>(), pages: NO_PAGES },
};
