/** Prints schema/schema.graphql: the schema over the declared collections, without a database. */
import 'reflect-metadata';
import { printSchema } from 'graphql';
import type { Collection } from '../../base/model/collection.js';
import type { ReportServices } from '../../school/reports/engine/report-context.js';
import { parseCollection } from '../../store/catalog/parse-collection.js';
import { readDefinitions } from '../../store/catalog/read-definitions.js';
import { createReportResolvers } from '../resolvers/reports/report-resolvers.js';
import { buildGatewaySchema } from './schema.js';

/**
 * `directory` holds the declarations, one file per collection. @throws INVALID_VALUE for a faulty declaration
 */
export async function printGatewaySchema(directory: string): Promise<string> {
  const { schema } = buildGatewaySchema({
    collections: await readCollections(directory),
    otherClasses: createReportResolvers(new NoServices()).classes,
    instanceOf: notExecuted,
  });
  return `${printSchema(schema)}\n`;
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

/** A schema that is only printed runs nothing. */
class NoServices implements ReportServices {
  get database(): ReportServices['database'] {
    return notExecuted();
  }
  get store(): ReportServices['store'] {
    return notExecuted();
  }
  get domains(): ReportServices['domains'] {
    return notExecuted();
  }
  readonly now = notExecuted;
  readonly defaultPageSize = 0;
  readonly maxPageSize = 0;
}

function notExecuted(): never {
  throw new Error('this schema is for printing');
}
