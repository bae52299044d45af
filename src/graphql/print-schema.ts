/** The text of schema/schema.graphql: the schema over the declared collections, without a database. */
import 'reflect-metadata';
import { printSchema } from 'graphql';
import type { ReportServices } from '../reports/report.js';
import { createReportResolvers } from '../reports/resolvers.js';
import { readDefinitions } from '../store/catalog.js';
import { parseCollection } from '../store/collection-definition.js';
import { buildGatewaySchema } from './schema.js';

/** `directory` holds the declarations, one file a collection. @throws INVALID_VALUE for a declaration with faults */
export async function printGatewaySchema(directory: string): Promise<string> {
  const definitions = await readDefinitions(directory);
  const schema = buildGatewaySchema({
    collections: definitions.map((definition) =>
      parseCollection(definition, { source: definition.name, isDeclared: true, version: 1 }),
    ),
    otherClasses: createReportResolvers(new NoServices()).classes,
    instanceOf: notExecuted,
  });
  return `${printSchema(schema)}\n`;
}

/** A schema that is printed runs nothing. */
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
