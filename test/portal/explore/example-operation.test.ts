import { describe, expect, it } from '@jest/globals';
import { fillVariables, parseExampleOperation } from '../../../src/portal/explore/example-operation.js';

const TEXT = `# Fee defaulters
# Students who owe fees,
# and how much.
#
# Topic: Fees
# For: admin, accountant
# Also: owes, arrears
# Variables: { "from": "{today-30}",
#   "first": 20 }
query FeeDefaulters($from: LocalDate!) {
  me { id }
}
`;

describe('an example operation', () => {
  it('says in its comment what it is', () => {
    expect(parseExampleOperation('fee-defaulters', TEXT)).toEqual({
      name: 'fee-defaulters',
      title: 'Fee defaulters',
      description: 'Students who owe fees, and how much.',
      topic: 'Fees',
      roles: ['admin', 'accountant'],
      also: 'owes, arrears',
      kind: 'query',
      document: 'query FeeDefaulters($from: LocalDate!) {\n  me { id }\n}',
      variables: { from: '{today-30}', first: 20 },
    });
  });

  it.each([
    ['a title', (text: string) => text.replace(/^# Fee.*\n/, '#\n')],
    ['what it shows', (text: string) => text.replace(/# Students.*\n# and.*\n/, '')],
    ['"# Topic:"', (text: string) => text.replace('Topic: Fees', 'Topic: Money')],
    ['"# For:"', (text: string) => text.replace(/# For.*\n/, '')],
    ['"# Variables:" as JSON', (text: string) => text.replace('20 }', '20')],
    ['"# Variables:" as a JSON object', (text: string) => text.replace(/\{ "from[\s\S]*20 \}/, '[1]')],
    ['a named query', (text: string) => text.replace('FeeDefaulters(', '(')],
  ])('without %s is refused, and its file named', (expected, without) => {
    expect(() => parseExampleOperation('fee-defaulters', without(TEXT))).toThrow(
      new RegExp(`schema/operations/fee-defaulters\\.graphql: expected .*${expected}`),
    );
  });

  it.each([
    ['{today}', '2026-11-20', '2026-11-20'],
    ['{today-30}', '2026-03-01', '2026-01-30'],
    ['{today-30}T00:00:00Z', '2026-11-20', '2026-10-21T00:00:00Z'],
    ['{weekday}', '2026-11-20', '2026-11-20'],
    ['{weekday}', '2026-11-21', '2026-11-20'],
    ['{weekday}', '2026-11-22', '2026-11-20'],
    ['{month}', '2026-11-20', '2026-11'],
    ['{month-11}', '2026-11-30', '2025-12'],
    ['{session}', '2026-03-31', '2025-26'],
    ['{session}', '2099-04-01', '2099-00'],
    ['{session.start}', '2026-03-31', '2025-04-01'],
    ['{session.month}', '2026-04-01', '2026-04'],
    ['{nonsense}', '2026-04-01', '{nonsense}'],
    ['{today-99999999999}', '2026-04-01', '{today-99999999999}'],
    ['{month-99999999999}', '2026-04-01', '{month-99999999999}'],
    ['{today-999999}', '2026-04-01', '{today-999999}'],
    ['{month-24321}', '2026-04-01', '{month-24321}'],
  ])('fills in %s on %s as %s', (written, today, expected) => {
    expect(fillVariables({ deep: [{ value: written }], n: 5, none: null }, today)).toEqual({
      deep: [{ value: expected }],
      n: 5,
      none: null,
    });
  });
});
