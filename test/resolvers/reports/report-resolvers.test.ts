import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { buildSchema } from 'type-graphql';
import type { ReportServices } from '../../../src/reports/engine/report-context.js';
import { reports } from '../../../src/reports/registry.js';
import { createReportResolvers } from '../../../src/resolvers/reports/report-resolvers.js';

/** Building a schema runs none of the reports. */
const unused: unknown = {};

it('gives every report a GraphQL field with its arguments and a description', async () => {
  const { classes, instances } = createReportResolvers(unused as ReportServices);
  const [first, ...others] = classes;
  if (!first) throw new Error('there are reports');
  const schema = await buildSchema({
    resolvers: [first, ...others],
    container: { get: (someClass) => instances.get(someClass) ?? new someClass() },
    validate: false,
  });
  const fields = schema.getQueryType()?.getFields() ?? {};
  for (const report of reports) {
    const field = fields[report.field];
    expect(field?.description).toContain(report.description);
    expect(field?.args.map(({ name }) => name)).toEqual([
      ...Object.keys(report.parameters),
      'first',
      'after',
    ]);
  }
});
