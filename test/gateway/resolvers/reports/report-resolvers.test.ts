import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { buildSchema } from 'type-graphql';
import { createReportResolvers } from '../../../../src/gateway/resolvers/reports/report-resolvers.js';
import type { ReportServices } from '../../../../src/school/reports/engine/report-context.js';
import { reports } from '../../../../src/school/reports/registry.js';

/** Building a schema runs none of the reports. */
const unused: unknown = {};

it('gives every report a GraphQL field with its arguments and a description', async () => {
  const [first, ...others] = createReportResolvers(unused as ReportServices);
  if (!first) throw new Error('there are reports');
  const schema = await buildSchema({
    resolvers: [first, ...others],
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
