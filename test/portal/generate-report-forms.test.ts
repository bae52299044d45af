import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { buildSchema, parse, validate } from 'graphql';
import { generateReportForms } from '../../src/portal/generate-report-forms.js';

describe('the forms of reports', () => {
  it('are drawn of the schema, with documents that it takes', async () => {
    const schema = buildSchema(await readFile('schema/schema.graphql', 'utf8'));
    const forms = generateReportForms(schema);
    expect(forms.length).toBeGreaterThanOrEqual(21);
    for (const { field, document, columns } of forms) {
      expect({ field, errors: validate(schema, parse(document)) }).toEqual({ field, errors: [] });
      expect(columns).not.toEqual([]);
    }
  });

  it('know what must be said, and what may be chosen', () => {
    const schema = buildSchema(`
      type Query {
        dues(from: LocalDate!, basis: Basis, first: Int, after: String): DuesReport!
        task: Task
      }
      enum Basis { DAY RECEIPT }
      scalar LocalDate scalar DateTime
      type Task { id: ID! }
      type DuesReport {
        rows: [Due!]!
        totals: Due!
        generatedAt: DateTime!
        parameters: DateTime!
        warnings: [Warning!]!
        currency: String!
      }
      type Warning { reason: String! count: Int! }
      type Due { id: ID! "How much." amount: Int! heads: [Head!]! student: Task }
      type Head { "\`_id\` of it." headId: String! name: String! "Unit: in the currency." amount: Int }`);
    const [form, ...others] = generateReportForms(schema);
    expect(others).toEqual([]);
    expect(form?.parameters).toEqual([
      { name: 'from', type: 'LocalDate', isRequired: true, description: '', choices: null },
      { name: 'basis', type: 'Basis', isRequired: false, description: '', choices: ['DAY', 'RECEIPT'] },
    ]);
    expect(form?.columns[0]).toEqual({
      name: 'amount',
      description: 'How much.',
      isList: false,
      type: 'Int',
      members: [],
    });
    expect(form?.columns[1]?.members).toEqual([
      { name: 'name', type: 'String', description: '' },
      { name: 'amount', type: 'Int', description: 'Unit: in the currency.' },
    ]);
  });
});
