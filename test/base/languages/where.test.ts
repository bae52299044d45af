import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../src/base/errors.js';
import { ExactNumber } from '../../../src/base/json/json.js';
import { parseWhere, WHERE_LIMITS } from '../../../src/base/languages/where.js';
import { WHERE_OPERATORS } from '../../../src/base/languages/where-operators.js';
import type { Filter } from '../../../src/base/model/filter.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import { type CompileContext, compileFilter } from '../../../src/store/sql/compile-filter.js';
import { sql } from '../../../src/store/sql.js';
import { runsOf } from '../../full-length.js';
import { SAMPLE, UNDECLARED } from '../../store/sql/sample-collection.js';

describe('where', () => {
  it('asks that all conditions hold', () => {
    expectFilter(
      { name: { equals: 'Rao' }, amount: { greaterThan: 5, lessOrEqual: 10 } },
      {
        kind: 'all',
        filters: [
          { kind: 'equals', path: ['name'], value: 'Rao' },
          {
            kind: 'all',
            filters: [
              { kind: 'greaterThan', path: ['amount'], value: 5 },
              { kind: 'lessOrEqual', path: ['amount'], value: 10 },
            ],
          },
        ],
      },
    );
  });

  it('takes the empty object for no filter at all', () => {
    expectFilter({}, { kind: 'all', filters: [] });
  });

  it('combines with and, or, not', () => {
    expectFilter(
      {
        or: [{ code: { equals: 'a' } }, { not: { code: { isNull: true } } }],
        and: [{ active: { equals: true } }],
      },
      {
        kind: 'all',
        filters: [
          {
            kind: 'any',
            filters: [
              { kind: 'equals', path: ['code'], value: 'a' },
              { kind: 'not', filter: { kind: 'isNull', path: ['code'] } },
            ],
          },
          { kind: 'all', filters: [{ kind: 'equals', path: ['active'], value: true }] },
        ],
      },
    );
  });

  it('reads text operators, case told apart or not', () => {
    expectFilter({ name: { startsWith: 'R' } }, { kind: 'startsWith', path: ['name'], text: 'R' });
    expectFilter(
      { name: { notContains: 'r', mode: 'insensitive' } },
      { kind: 'not', filter: { kind: 'contains', path: ['name'], text: 'r', isInsensitive: true } },
    );
    expectFilter(
      { name: { equals: 'rao', mode: 'insensitive' } },
      { kind: 'equalsInsensitive', path: ['name'], text: 'rao' },
    );
    expectFilter({ name: { in: ['a', 'b'] } }, { kind: 'in', path: ['name'], values: ['a', 'b'] });
    expectFilter(
      { name: { notIn: ['a'], mode: 'insensitive' } },
      {
        kind: 'not',
        filter: { kind: 'any', filters: [{ kind: 'equalsInsensitive', path: ['name'], text: 'a' }] },
      },
    );
    expectFilter({ name: { in: [] } }, { kind: 'in', path: ['name'], values: [] });
  });

  it('reads numbers without a float where they come exact', () => {
    expectFilter({ amount: { equals: 5.5 } }, { kind: 'equals', path: ['amount'], value: 5.5 });
    expectFilter(
      { amount: { between: { from: '0.10', to: new ExactNumber('0.30') } } },
      {
        kind: 'all',
        filters: [
          { kind: 'greaterOrEqual', path: ['amount'], value: new ExactNumber('0.10') },
          { kind: 'lessOrEqual', path: ['amount'], value: new ExactNumber('0.30') },
        ],
      },
    );
  });

  it('reads days, months and instants', () => {
    expectFilter(
      { created_on: { on: '2026-04-01' } },
      { kind: 'on', path: ['created_on'], day: '2026-04-01' },
    );
    expectFilter(
      { created_on: { within: '2026-04' } },
      { kind: 'within', path: ['created_on'], month: '2026-04' },
    );
    expectFilter(
      { created_on: { inMonth: '2026-04' } },
      { kind: 'within', path: ['created_on'], month: '2026-04' },
    );
    expectFilter(
      { created_on: { today: true } },
      { kind: 'on', path: ['created_on'], day: { word: 'today' } },
    );
    expectFilter(
      { created_on: { yesterday: false } },
      { kind: 'not', filter: { kind: 'on', path: ['created_on'], day: { word: 'yesterday' } } },
    );
    expectFilter(
      { created_on: { lessThan: new Date('2026-04-01T00:00:00Z') } },
      { kind: 'lessThan', path: ['created_on'], value: '2026-04-01T00:00:00.000Z' },
    );
    expectFilter(
      { day: { greaterOrEqual: '2026-04-01' } },
      { kind: 'greaterOrEqual', path: ['day'], value: '2026-04-01' },
    );
  });

  it('asks a reference for its id or its label', () => {
    expectFilter(
      { person: { id: { equals: 'U1' } } },
      { kind: 'equals', path: ['person', 'value'], value: 'U1' },
    );
    expectFilter(
      { person: { label: { contains: 'Rao' } } },
      { kind: 'contains', path: ['person', 'label'], text: 'Rao' },
    );
  });

  it('asks for what a reference points to, and what that points to', () => {
    const isActive: Filter = { kind: 'equals', path: ['active'], value: true };
    const pointing = (path: string[], filter: Filter): Filter => ({
      kind: 'record',
      path,
      collection: 'pltf_user',
      filter,
    });
    expectFilter({ person: { record: { active: { equals: true } } } }, pointing(['person'], isActive));
    expectFilter(
      { person: { record: { id: { equals: 'U1' }, person: { record: { active: { equals: true } } } } } },
      pointing(['person'], {
        kind: 'all',
        filters: [{ kind: 'equals', path: ['_id'], value: 'U1' }, pointing(['person'], isActive)],
      }),
    );
    expectFilter(
      { address: { owner: { record: { not: { active: { equals: true } } } } } },
      pointing(['address', 'owner'], { kind: 'not', filter: isActive }),
    );
    expectFilter(
      { people: { none: { record: { active: { equals: true } } } } },
      { kind: 'not', filter: { kind: 'element', path: ['people'], filter: pointing([], isActive) } },
    );
    expectFilter(
      { lines: { any: { payer: { record: { active: { equals: true } } } } } },
      { kind: 'element', path: ['lines'], filter: pointing(['payer'], isActive) },
    );
  });

  it('says of which collection the record is, where there are several', () => {
    const parsed = parseWhere(
      { who: { record: { sample: { active: { equals: true } } } } },
      { collection: SEVERAL, findCollection: () => SAMPLE },
    );
    const filter: Filter = { kind: 'equals', path: ['active'], value: true };
    expect(parsed).toEqual({ kind: 'record', path: ['who'], collection: 'sample', filter });
  });

  it('asks for the id of the record', () => {
    expectFilter({ id: { in: ['a'] } }, { kind: 'in', path: ['_id'], values: ['a'] });
    expectFilter({ _id: { startsWith: 'a' } }, { kind: 'startsWith', path: ['_id'], text: 'a' });
  });

  it('enters an object by its members', () => {
    expectFilter(
      { address: { city: { equals: 'Pune' } } },
      { kind: 'equals', path: ['address', 'city'], value: 'Pune' },
    );
    expectFilter(
      { address: { or: [{ exists: false }, { city: { equals: 'Pune' } }] } },
      {
        kind: 'any',
        filters: [
          { kind: 'not', filter: { kind: 'exists', path: ['address'] } },
          { kind: 'equals', path: ['address', 'city'], value: 'Pune' },
        ],
      },
    );
  });

  it('asks any, all or none of the elements of a list', () => {
    const isTuition: Filter = { kind: 'equals', path: ['head'], value: 'Tuition' };
    expectFilter(
      { lines: { any: { head: { equals: 'Tuition' } } } },
      { kind: 'element', path: ['lines'], filter: isTuition },
    );
    expectFilter(
      { lines: { none: { head: { equals: 'Tuition' } } } },
      { kind: 'not', filter: { kind: 'element', path: ['lines'], filter: isTuition } },
    );
    expectFilter(
      { lines: { all: { head: { equals: 'Tuition' } } } },
      {
        kind: 'not',
        filter: { kind: 'element', path: ['lines'], filter: { kind: 'not', filter: isTuition } },
      },
    );
    expectFilter(
      { roles: { any: { startsWith: 't' } } },
      { kind: 'element', path: ['roles'], filter: { kind: 'startsWith', path: [], text: 't' } },
    );
    expectFilter(
      { people: { any: { id: { equals: 'U1' } } } },
      { kind: 'element', path: ['people'], filter: { kind: 'equals', path: ['value'], value: 'U1' } },
    );
    expectFilter(
      { roles: { isEmpty: true } },
      { kind: 'not', filter: { kind: 'element', path: ['roles'], filter: { kind: 'all', filters: [] } } },
    );
    expectFilter(
      {
        lines: { any: { or: [{ amount: { lessThan: 1 } }, { parts: { any: { name: { equals: 'x' } } } }] } },
      },
      {
        kind: 'element',
        path: ['lines'],
        filter: {
          kind: 'any',
          filters: [
            { kind: 'lessThan', path: ['amount'], value: 1 },
            { kind: 'element', path: ['parts'], filter: { kind: 'equals', path: ['name'], value: 'x' } },
          ],
        },
      },
    );
  });

  it('knows every operator of its own table', () => {
    const context: CompileContext = {
      collection: SAMPLE,
      timeZone: 'UTC',
      now: new Date(),
      isByteOrdered: true,
      findTarget: () => ({ collection: SAMPLE, access: FULL_ACCESS, condition: sql`true` }),
    };
    for (const [field, type] of Object.entries(FIELD_BY_TYPE)) {
      for (const { name, operand } of WHERE_OPERATORS[type]) {
        if (operand === 'mode') continue;
        const where = { [field]: { [name]: operandOf(operand, type) } };
        expect(() => compileFilter(parseWhere(where, OPTIONS), context)).not.toThrow();
      }
    }
  });
});

describe('a where that is refused', () => {
  it('has an unknown field: what is meant is guessed', () => {
    expectError({ nam: { equals: 'x' } }, 'MALFORMED_FILTER', '/nam', 'Did you mean "name"?');
    expectError({ address: { town: { equals: 'x' } } }, 'MALFORMED_FILTER', '/address/town', 'city');
    expectError(
      { lines: { any: { heads: { equals: 'x' } } } },
      'MALFORMED_FILTER',
      '/lines/any/heads',
      'Did you mean "head"?',
    );
  });

  it('has an unknown operator: what is meant is guessed', () => {
    expectError({ amount: { gt: 5 } }, 'MALFORMED_FILTER', '/amount/gt', 'Did you mean "greaterThan"?');
    expectError(
      { name: { startWith: 'x' } },
      'MALFORMED_FILTER',
      '/name/startWith',
      'Did you mean "startsWith"?',
    );
    expectError(
      { amount: { contains: '5' } },
      'MALFORMED_FILTER',
      '/amount/contains',
      'an operator of a number field',
    );
    expectError(
      { active: { greaterThan: true } },
      'MALFORMED_FILTER',
      '/active/greaterThan',
      'equals, notEquals, isNull',
    );
    expectError({ roles: { equals: 'x' } }, 'MALFORMED_FILTER', '/roles/equals', 'any, all, none');
    expectError({ person: { equals: 'x' } }, 'MALFORMED_FILTER', '/person/equals', 'id, label');
  });

  it('has a null where a value was to be, which would else mean "all records"', () => {
    expectError({ name: { equals: null } }, 'MALFORMED_FILTER', '/name/equals', '{"isNull": true}');
    expectError({ name: null }, 'MALFORMED_FILTER', '/name', '{"isNull": true}');
    expectError({ name: { in: ['a', null] } }, 'MALFORMED_FILTER', '/name/in/1', '{"isNull": true}');
    expectError({ name: { in: null } }, 'MALFORMED_FILTER', '/name/in', '{"isNull": true}');
    expectError(
      { amount: { between: { from: null, to: 5 } } },
      'MALFORMED_FILTER',
      '/amount/between/from',
      '{"isNull": true}',
    );
    expectError(
      { amount: { between: { from: 5 } } },
      'MALFORMED_FILTER',
      '/amount/between/to',
      '{"isNull": true}',
    );
    expectError({ lines: { any: null } }, 'MALFORMED_FILTER', '/lines/any', 'not null');
    expectError({ or: null }, 'MALFORMED_FILTER', '/or', 'at least one where');
    expectError(null, 'MALFORMED_FILTER', '', 'an object');
  });

  it('has nothing where a condition was to be', () => {
    expectError({ name: {} }, 'MALFORMED_FILTER', '/name', 'an operator');
    expectError({ name: { contains: undefined } }, 'MALFORMED_FILTER', '/name', 'an operator');
    expectError({ name: { mode: 'insensitive' } }, 'MALFORMED_FILTER', '/name', 'an operator');
    expectError({ and: [] }, 'MALFORMED_FILTER', '/and', 'at least one where');
    expectError({ or: [{}] }, 'MALFORMED_FILTER', '/or/0', 'object is empty');
    expectError({ not: {} }, 'MALFORMED_FILTER', '/not', 'object is empty');
    expectError({ address: {} }, 'MALFORMED_FILTER', '/address', 'object is empty');
    expectError({ lines: { any: {} } }, 'MALFORMED_FILTER', '/lines/any', 'object is empty');
    expectError({ name: { contains: '' } }, 'MALFORMED_FILTER', '/name/contains', 'a text to look for');
  });

  it('has a value of another type', () => {
    expectError({ name: { equals: 5 } }, 'INVALID_VALUE', '/name/equals', 'a text');
    expectError({ amount: { equals: 'five' } }, 'INVALID_VALUE', '/amount/equals', 'a number');
    expectError({ amount: { equals: Number.NaN } }, 'INVALID_VALUE', '/amount/equals', 'a number');
    expectError({ active: { equals: 'true' } }, 'INVALID_VALUE', '/active/equals', 'true or false');
    expectError({ created_on: { on: '2026-02-30' } }, 'INVALID_VALUE', '/created_on/on', 'a day');
    expectError({ created_on: { within: '2026-13' } }, 'INVALID_VALUE', '/created_on/within', 'a month');
    expectError({ created_on: { today: 'yes' } }, 'MALFORMED_FILTER', '/created_on/today', 'true or false');
    expectError(
      { name: { equals: 'a', mode: 'loud' } },
      'MALFORMED_FILTER',
      '/name/mode',
      '"sensitive" or "insensitive"',
    );
    expectError({ name: ['x'] }, 'MALFORMED_FILTER', '/name', 'an object of operators');
    expectError({ name: 'x' }, 'MALFORMED_FILTER', '/name', 'an object of operators');
    expectError('name=x', 'MALFORMED_FILTER', '', 'an object');
    expectError([], 'MALFORMED_FILTER', '', 'an object');
  });

  it('is larger than the limits', () => {
    const deep = Array.from({ length: 20 }).reduce<object>((inner) => ({ not: inner }), {
      name: { equals: 'x' },
    });
    expectError(deep, 'LIMIT_EXCEEDED', '', 'levels');
    const wide = {
      or: Array.from({ length: WHERE_LIMITS.maxConditions + 1 }, () => ({ name: { equals: 'x' } })),
    };
    expectError(wide, 'LIMIT_EXCEEDED', '', 'conditions');
    const inCircles = (depth: number): object =>
      depth === 0 ? { name: { equals: 'x' } } : { person: { record: inCircles(depth - 1) } };
    expect(() => parseWhere(inCircles(3), OPTIONS)).not.toThrow();
    expectError(
      inCircles(4),
      'LIMIT_EXCEEDED',
      '/person/record/person/record/person/record/person/record',
      'at most 3 references in a row',
    );
    const many = { or: Array(21).fill({ person: { record: { name: { equals: 'x' } } } }) };
    expectError(many, 'LIMIT_EXCEEDED', '/or/20/person/record', 'at most 20 conditions on other records');
    expectError({ name: { in: Array(1001).fill('x') } }, 'LIMIT_EXCEEDED', '/name/in', 'values');
    expectError({ name: { equals: 'x'.repeat(5000) } }, 'LIMIT_EXCEEDED', '/name/equals', 'characters');
  });

  it('says nothing of what a reference points to, or what is not there', () => {
    const at = '/person/record';
    expectError({ person: { record: {} } }, 'MALFORMED_FILTER', at, 'this object is empty');
    expectError({ person: { record: null } }, 'MALFORMED_FILTER', at, '{"isNull": true}');
    expectError({ person: { record: { nam: { equals: 'x' } } } }, 'MALFORMED_FILTER', `${at}/nam`, '"name"?');
    const several = { collection: SEVERAL, findCollection: () => SAMPLE };
    for (const record of [{ name: { equals: 'x' } }, { sample: {}, other: {} }, {}]) {
      expect(() => parseWhere({ who: { record } }, several)).toThrow(/one of the collections sample, other/);
    }
    expect(() => parseWhere({ person: { record: { id: { equals: 'x' } } } }, { collection: SAMPLE })).toThrow(
      /its target has no filter here/,
    );
  });

  it('names fields that are not declared: those are for oquery', () => {
    expectError({ x: { equals: 1 } }, 'MALFORMED_FILTER', '/x', 'oquery reaches the others', UNDECLARED);
  });

  it('points at the place also through names with / and ~', () => {
    expectError({ 'a/b~c': { equals: 1 } }, 'MALFORMED_FILTER', '/a~1b~0c', 'a declared field');
  });

  it('fails on any input in no way but its own', () => {
    const names = fc.constantFrom(
      'name',
      'amount',
      'lines',
      'roles',
      'address',
      'person',
      'record',
      'and',
      'or',
      'not',
      'any',
      'all',
      'equals',
      'in',
      'between',
      'isNull',
      'id',
      'mode',
      'x',
      '__proto__',
      'constructor',
      'toString',
    );
    const inputs = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(
          null,
          undefined,
          'a',
          '',
          5,
          true,
          Number.NaN,
          new Date(Number.NaN),
          new ExactNumber('5'),
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .array(fc.tuple(names, tie('value')), { maxLength: 3 })
          .map((entries) => Object.fromEntries(entries)),
      ),
    })).value;
    const check = fc.property(inputs, (value) => {
      try {
        parseWhere(value, OPTIONS);
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
      }
    });
    fc.assert(check, runsOf(2_000));
  });
});

/** Its references point to records of the same form. */
const OPTIONS = { collection: SAMPLE, findCollection: () => SAMPLE };

const NO_FIELDS: ReadonlySet<string> = new Set();
const FULL_ACCESS = {
  rows: undefined,
  rowFields: NO_FIELDS,
  hiddenFields: NO_FIELDS,
  readOnlyFields: NO_FIELDS,
};

const SEVERAL = parseCollection(
  { name: 'several', fields: [{ name: 'who', type: 'reference', target: ['sample', 'other'] }] },
  { source: 'test', isDeclared: false, version: 1 },
);

const FIELD_BY_TYPE = {
  _id: 'id',
  name: 'text',
  month: 'month',
  amount: 'number',
  active: 'boolean',
  created_on: 'datetime',
  person: 'reference',
  address: 'object',
  roles: 'list',
} as const;

function operandOf(operand: string, type: string): unknown {
  const value = { number: 5, boolean: true, datetime: '2026-04-01', month: '2026-04' }[type] ?? 'x';
  switch (operand) {
    case 'values':
      return [value];
    case 'range':
      return { from: value, to: value };
    case 'day':
      return '2026-04-01';
    case 'month':
      return '2026-04';
    case 'flag':
      return true;
    case 'recordCondition':
      return { name: { equals: 'x' } };
    case 'textCondition':
    case 'elementCondition':
      return { equals: 'x' };
    default:
      return value;
  }
}

function expectFilter(where: unknown, filter: Filter): void {
  expect(parseWhere(where, OPTIONS)).toEqual(filter);
}

function expectError(
  where: unknown,
  code: string,
  pointer: string,
  words: string,
  collection = SAMPLE,
): void {
  let thrown: unknown;
  try {
    parseWhere(where, { collection, findCollection: () => SAMPLE });
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({
    code,
    status: 400,
    message: expect.stringContaining(words),
    errors: [{ parameter: 'where', pointer: expect.stringContaining(pointer) }],
  });
}
