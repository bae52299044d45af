import { describe, expect, it } from '@jest/globals';
import {
  type EmptinessChoice,
  type FilterCondition,
  joinWhere,
  splitWhere,
} from '../../src/portal/browser/records/filter-conditions.js';

const CHOICES: readonly EmptinessChoice[] = [
  { path: 'email', emptiness: { path: 'email', kind: 'text' } },
  { path: 'dob', emptiness: { path: 'dob', kind: 'value' } },
  { path: 'roles', emptiness: { path: 'roles', kind: 'list' } },
  { path: 'room.floor', emptiness: { path: 'room.floor', kind: 'value' } },
  { path: 'manager.label', emptiness: { path: 'manager', kind: 'value' } },
  { path: 'lines.fee_head' },
  { path: 'manager.value' },
];
const empty = (name: string): FilterCondition => ({ field: name, operator: 'isNull', value: '' });
const filled = (name: string): FilterCondition => ({ field: name, operator: 'isFilled', value: '' });

describe('"is empty" and "is not empty"', () => {
  it.each<[string, readonly FilterCondition[]]>([
    ['{"or":[{"email":{"isNull":true}},{"email":{"equals":""}}]}', [empty('email')]],
    ['{"email":{"isNull":false,"notEquals":""}}', [filled('email')]],
    ['{"dob":{"isNull":true}}', [empty('dob')]],
    ['{"roles":{"isEmpty":false}}', [filled('roles')]],
    ['{"room":{"floor":{"isNull":true}}}', [empty('room.floor')]],
    ['{"manager":{"isNull":false}}', [filled('manager.label')]],
    ['{"class":{"notEquals":"1"}}', [{ field: 'class', operator: 'notEquals', value: '1' }]],
    [
      '{"manager":{"id":{"notEquals":"e1"}}}',
      [{ field: 'manager.value', operator: 'notEquals', value: 'e1' }],
    ],
    ['{"colour":{"isNull":true}}', [empty('colour')]],
    ['{"and":[{"dob":{"isNull":true}},{"roles":{"isEmpty":true}}]}', [empty('dob'), empty('roles')]],
  ])('%s are rows, and are written as it', (where, conditions) => {
    expect(splitWhere(where, CHOICES)).toEqual({ conditions, rest: '' });
    expect(joinWhere({ conditions, rest: '' }, CHOICES)).toBe(where);
  });

  it('stand beside what no row can say', () => {
    const rest = '{"or":[{"class":{"equals":"5"}},{"class":{"equals":"6"}}]}';
    const where = `{"and":[{"dob":{"isNull":true}},${rest}]}`;
    expect(splitWhere(where, CHOICES)).toEqual({ conditions: [empty('dob')], rest });
    expect(joinWhere({ conditions: [empty('dob')], rest }, CHOICES)).toBe(where);
  });

  it.each([
    '',
    '{}',
    '{',
    '[]',
    '{"or":[]}',
    '{"and":[]}',
    '{"class":{"equals":"5"}}',
    '{ "and": [ {"class": {"equals": "5"}} ] }',
    '{"dob":{"isNull":true},"class":{"equals":"5"}}',
    '{"dob":{"isNull":null}}',
    '{"dob":5}',
  ])('are none in %s, which stays as it was written', (where) => {
    expect(splitWhere(where, CHOICES)).toEqual({ conditions: [], rest: where });
    expect(joinWhere(splitWhere(where, CHOICES), CHOICES)).toBe(where);
  });
});
