/** Fields that scripts declare at their heads. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../src/base/errors.js';
import {
  assertOfType,
  parseDeclaredField,
  readDeclaredArguments,
  toGraphqlField,
} from '../../../../src/services/scripting/library/declared-field.js';

const parse = (code: string, taken: readonly string[] = []) =>
  parseDeclaredField({ name: 'fees', code }, (name) =>
    taken.includes(name) ? `${name} is taken` : undefined,
  );

/** A declaration that must be there. */
function declared(code: string) {
  const field = parse(code);
  if (!field) throw new Error('nothing is declared');
  return field;
}

const BALANCE = `/*
 * Balances
 * // @query notThis: Int
 */
// of a student
// @query feeBalance(student: ID!, months: [Month!], all: Boolean = false): FeeBalance!
// @type FeeBalance {
//   student: ID!
//   lines: [FeeLine!]!
// }
// @type FeeLine { head: String, amount: Decimal!, on: LocalDate, more: JSON }
// @cost 50
// @cache 60

export default () => 1;
// @mutation neither: Int
`;

describe('the head of a script', () => {
  it('declares a field with its types', () => {
    expect(declared(BALANCE)).toMatchObject({
      ...{ kind: 'query', name: 'feeBalance', types: ['FeeBalance', 'FeeLine'], cost: 50, maxAgeSeconds: 60 },
    });
    expect(String(toGraphqlField(declared(BALANCE)).type)).toBe('FeeBalance!');
    expect(declared('// @mutation bookBus(route: String!): Boolean')).toMatchObject({
      ...{ kind: 'mutation', name: 'bookBus', types: [], cost: 10, maxAgeSeconds: 0 },
    });
  });

  it.each(['export default 1', '', '// @ts-check\n// @type {Foo}', 'const a = 1;\n// @query a: Int'])(
    'declares none: %j',
    (code) => {
      expect(parse(code)).toBeUndefined();
    },
  );

  it.each([
    ['// @query a', 1, 'Syntax Error'],
    ['\n// @query a(b: Int: Int', 2, 'Syntax Error'],
    ['// @query a: Nothing', 1, 'Unknown type "Nothing"'],
    ['// @query a: A\n//\n// @type A { b: Strin }', 3, 'Unknown type "Strin".'],
    ['// @query a: A\n// @type A {\n//   b: Int\n//   b: Int\n// }', 3, 'only be defined once'],
    ['// @query a: A\n// @type A', 2, 'must define one or more fields'],
    ['// @query a: Int\n// @query b: Int', 2, 'one field'],
    ['// @query a: Int, b: Int', 1, 'one field'],
    ['// @query a: Int } scalar B extend type Query { c: Int', 1, 'one field'],
    ['// @query a: Int } type B { c: Int', 1, ''],
    ['// @query a(b: A): Int\n// @type A { c: Int }', 1, 'an argument is a scalar'],
    ['// @query a(b: A = 1): Int\n// @type A { c: Int }', 1, 'an argument is a scalar'],
    ['// @query a: Query', 1, 'other types'],
    ['// @query a: A\n// @type A { b(c: Int): Int }', 2, 'only the field'],
    ['// @query _a: Int', 1, 'names of the language'],
    ['// @query a: A\n// @type A { constructor: Int }', 2, 'names of the language'],
    ['// @query a: Int @deprecatd', 1, 'Unknown directive'],
    ['// @query a: Int\n// @cost 0', 2, '@cost is here a whole number from 1 to 10000'],
    ['// @query a: Int\n// @cost many', 2, '@cost'],
    ['// @query a: Int\n// @cache 3601', 2, '@cache is here a whole number from 0 to 3600'],
    ['// @mutation a: Int\n// @cache 5', 2, '@cache is here a whole number from 0 to 0'],
    ['// @query taken: Int', 1, 'taken is taken'],
    ['// @query a: Taken\n// @type Taken { b: Int }', 2, 'Taken is taken'],
    [`// @query a: A\n// @type A { ${Array.from({ length: 800 }, (_, n) => `b${n}: Int`)} }`, 2, 'tokens'],
  ])('is refused with its line: %j', (code, line, problem) => {
    const refused = () => parse(code, ['taken', 'Taken']);
    if (problem === '') return void expect(refused()).toMatchObject({ types: ['B'] });
    expect(refused).toThrow(ServiceError);
    expect(refused).toThrow(new RegExp(`^fees:${line}: .*${problem.replaceAll(/[.*]/g, '\\$&')}`, 's'));
  });

  it('is read whatever stands there, in time', () => {
    const piece = fc.constantFrom(
      ...[
        '// @query ',
        '// @type ',
        'a',
        'A',
        '(',
        ')',
        '{',
        '}',
        ': Int',
        '!',
        '\n',
        '\n// ',
        '/*',
        '*/',
        '"',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          parse(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      }),
    );
    const startedAt = performance.now();
    expect(() => parse(`// @query a: A\n// @type A {\n${'// ({[\n'.repeat(40_000)}`)).toThrow(ServiceError);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe('a declared field', () => {
  it('takes what it declares', () => {
    const read = (sent: never) => readDeclaredArguments(toGraphqlField(declared(BALANCE)), sent);
    expect(read({ student: 7 } as never)).toEqual({ student: '7', all: false });
    expect(read({ student: 's', months: '2026-07' } as never)).toMatchObject({ months: ['2026-07'] });
    for (const sent of [null, [], 'x', {}, { student: 's', month: 1 }, { student: 's', months: ['July'] }]) {
      expect(() => read(sent as never)).toThrow(/^feeBalance/);
    }
  });

  it.each([
    [{ student: 's', lines: [] }, undefined],
    [{ student: 's', lines: [{ amount: '1.50', other: 1 }] }, undefined],
    [undefined, 'feeBalance: FeeBalance! is expected, not nothing'],
    ['x', 'feeBalance: FeeBalance! is expected, not "x"'],
    [{ student: 's' }, 'feeBalance.lines: [FeeLine!]! is expected, not nothing'],
    [{ student: 's', lines: {} }, 'feeBalance.lines: [FeeLine!]! is expected, not {}'],
    [{ student: 7, lines: [] }, 'feeBalance.student: ID! is expected, not 7'],
    [{ student: 's', lines: [null] }, 'feeBalance.lines[0]: FeeLine! is expected, not nothing'],
    [{ student: 's', lines: [{ amount: 'x' }] }, 'feeBalance.lines[0].amount: Decimal! is expected, not "x"'],
    [
      { student: 's', lines: [{ amount: '1', on: 'today' }] },
      'feeBalance.lines[0].on: LocalDate is expected, not "today"',
    ],
  ])('gives what it declares: %j', (value, problem) => {
    const { type, name } = toGraphqlField(declared(BALANCE));
    const assert = () => assertOfType(value, type, name);
    if (problem === undefined) expect(assert).not.toThrow();
    else expect(assert).toThrow(problem);
  });
});
