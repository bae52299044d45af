import { describe, expect, it } from '@jest/globals';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { ServiceError } from '../../../src/base/errors.js';
import {
  ExactNumber,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printExactJson,
} from '../../../src/base/json/json.js';
import { isSameJson } from '../../../src/base/model/compare-json.js';
import {
  applyUpdate,
  assertUpdate,
  UPDATE_LIMITS,
  type UpdateOperation,
} from '../../../src/base/model/update-operation.js';
import { valueAtPath } from '../../../src/base/model/value-at-path.js';
import { runsOf } from '../../full-length.js';

const MOMENT = { now: new Date('2026-11-20T19:00:00.000Z'), timeZone: 'Asia/Kolkata' };

function updated(record: string, ...operations: UpdateOperation[]): string {
  const parsed = parseExactJson(record) as JsonObject;
  assertUpdate(operations);
  const result = applyUpdate(parsed, operations, MOMENT);
  expect(printExactJson(parsed)).toBe(record);
  return printExactJson(result);
}

function refusal(record: string, ...operations: UpdateOperation[]): string {
  try {
    updated(record, ...operations);
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

const at = (path: string) => path.split('.');

describe('an update that cannot be', () => {
  it('is refused: on one place twice, or on one within the other', () => {
    const a = (path: string): UpdateOperation => ({ kind: 'set', path: at(path), value: 1 });
    expect(refusal('{}', a('a'), a('b'), a('a'))).toBe('a is changed twice by one update; change it once');
    expect(refusal('{}', a('a.b'), a('a'))).toMatch(/^a is changed twice/);
    expect(refusal('{}', a('a'), { kind: 'rename', path: ['b'], to: ['a', 'c'] })).toMatch(
      /^a is changed twice/,
    );
    expect(updated('{}', a('a'), a('ab'), a('a!'))).toBe('{"a":1,"ab":1,"a!":1}');
  });

  it('is refused: nothing at all, no path, a replacement beside something else, too much', () => {
    expect(refusal('{}')).toMatch(/has no changes/);
    expect(refusal('{}', { kind: 'unset', path: [] })).toBe('a change needs the path of a field');
    expect(refusal('{}', { kind: 'replace', data: {} }, { kind: 'unset', path: ['a'] })).toMatch(
      /nothing goes with it/,
    );
    const many = Array.from(
      { length: UPDATE_LIMITS.maxOperations + 1 },
      (_, i): UpdateOperation => ({ kind: 'unset', path: [`f${i}`] }),
    );
    expect(refusal('{}', ...many)).toBe('an update has at most 200 changes');
    expect(refusal('{}', { kind: 'unset', path: Array(33).fill('a') })).toBe(
      'an update has at most 32 steps in a path',
    );
    expect(refusal('{}', { kind: 'push', path: ['a'], values: Array(1001).fill(1) })).toBe(
      'an update has at most 1000 values for a list',
    );
  });

  it('is refused where something else is there, and says what', () => {
    expect(refusal('{"a":"5"}', { kind: 'increment', path: ['a'], by: 1 })).toBe(
      'a: a number is expected, "5" is there',
    );
    expect(refusal('{"a":null}', { kind: 'multiply', path: ['a'], by: 2 })).toBe(
      'a: a number is expected, null is there',
    );
    expect(refusal('{"a":{}}', { kind: 'push', path: ['a'], values: [1] })).toBe(
      'a: a list is expected, {} is there',
    );
    expect(refusal('{"a":5}', { kind: 'pop', path: ['a'], end: 'first' })).toBe(
      'a: a list is expected, 5 is there',
    );
    expect(refusal('{"a":5}', { kind: 'set', path: at('a.b'), value: 1 })).toBe(
      'a: an object with "b" is expected, 5 is there',
    );
    expect(refusal('{"a":[1]}', { kind: 'set', path: at('a.b'), value: 1 })).toBe(
      'a: an object with "b" is expected, [1] is there',
    );
    expect(refusal('{"a":[]}', { kind: 'set', path: at('a.10000'), value: 1 })).toMatch(
      /an element up to number 9999/,
    );
    expect(refusal('{}', { kind: 'increment', path: ['a'], by: 'ten' })).toBe(
      'a: a number to count by is expected, "ten" was sent',
    );
  });
});

describe('an update', () => {
  it('sets and unsets, on the way through objects and elements', () => {
    expect(updated('{"a":1}', { kind: 'set', path: at('b.c'), value: 'x' })).toBe('{"a":1,"b":{"c":"x"}}');
    expect(updated('{"a":[{"b":1},{"b":2}]}', { kind: 'set', path: at('a.1.b'), value: 3 })).toBe(
      '{"a":[{"b":1},{"b":3}]}',
    );
    expect(updated('{"a":[1]}', { kind: 'set', path: at('a.3'), value: 4 })).toBe('{"a":[1,null,null,4]}');
    expect(updated('{"a":{"b":1,"c":2}}', { kind: 'unset', path: at('a.b') })).toBe('{"a":{"c":2}}');
    expect(updated('{"a":[1,2]}', { kind: 'unset', path: at('a.0') })).toBe('{"a":[null,2]}');
    expect(updated('{"a":1}', { kind: 'unset', path: at('b.c') })).toBe('{"a":1}');
    expect(updated('{}', { kind: 'set', path: ['__proto__', 'a'], value: 1 })).toBe('{"__proto__":{"a":1}}');
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false);
  });

  it('counts to the last digit', () => {
    expect(updated('{"a":0.1}', { kind: 'increment', path: ['a'], by: '0.2' })).toBe('{"a":0.3}');
    expect(updated('{"a":12345678901234567890.10}', { kind: 'increment', path: ['a'], by: '0.01' })).toBe(
      '{"a":12345678901234567890.11}',
    );
    expect(updated('{}', { kind: 'increment', path: at('a.b'), by: -3 })).toBe('{"a":{"b":-3}}');
    expect(updated('{"a":0.1}', { kind: 'multiply', path: ['a'], by: new ExactNumber('3') })).toBe(
      '{"a":0.3}',
    );
    expect(updated('{}', { kind: 'multiply', path: ['a'], by: 7 })).toBe('{"a":0}');
  });

  it('keeps the least or the greatest', () => {
    expect(
      updated('{"a":5}', { kind: 'min', path: ['a'], value: 3 }, { kind: 'max', path: ['b'], value: 1 }),
    ).toBe('{"a":3,"b":1}');
    expect(updated('{"a":5}', { kind: 'max', path: ['a'], value: 3 })).toBe('{"a":5}');
    expect(updated('{"a":"2026-01-02"}', { kind: 'max', path: ['a'], value: '2026-01-10' })).toBe(
      '{"a":"2026-01-10"}',
    );
    expect(updated('{"a":5}', { kind: 'max', path: ['a'], value: 'text' })).toBe('{"a":"text"}');
  });

  it('pushes at a place, in an order, and keeps a slice', () => {
    expect(updated('{}', { kind: 'push', path: ['a'], values: [1, 2] })).toBe('{"a":[1,2]}');
    expect(updated('{"a":[1,2]}', { kind: 'push', path: ['a'], values: [9], position: 0 })).toBe(
      '{"a":[9,1,2]}',
    );
    expect(updated('{"a":[1,2]}', { kind: 'push', path: ['a'], values: [9], position: -1 })).toBe(
      '{"a":[1,9,2]}',
    );
    expect(updated('{"a":[1,2]}', { kind: 'push', path: ['a'], values: [3], slice: -2 })).toBe('{"a":[2,3]}');
    expect(updated('{"a":[1,2]}', { kind: 'push', path: ['a'], values: [3], slice: 0 })).toBe('{"a":[]}');
    const sort = [{ path: ['n'], direction: 'descending' }] as const;
    expect(
      updated('{"a":[{"n":2},{"n":10}]}', { kind: 'push', path: ['a'], values: [{ n: 3 }], sort, slice: 2 }),
    ).toBe('{"a":[{"n":10},{"n":3}]}');
    const itself = [{ path: [], direction: 'ascending' }] as const;
    expect(updated('{"a":[2,10]}', { kind: 'push', path: ['a'], values: [3], sort: itself })).toBe(
      '{"a":[2,3,10]}',
    );
  });

  it('treats a list as a set, by value', () => {
    expect(updated('{"a":[1.0]}', { kind: 'addToSet', path: ['a'], values: [1, 2, 2] })).toBe(
      '{"a":[1.0,2]}',
    );
    expect(
      updated('{"a":[{"x":1,"y":2}]}', { kind: 'addToSet', path: ['a'], values: [{ y: 2, x: 1 }] }),
    ).toBe('{"a":[{"x":1,"y":2}]}');
    expect(updated('{"a":[1,2,1.0]}', { kind: 'pull', path: ['a'], matches: [1] })).toBe('{"a":[2]}');
    expect(
      updated('{"a":[1,2,3]}', {
        kind: 'pull',
        path: ['a'],
        matches: (value) => value !== null && String(value) > '1',
      }),
    ).toBe('{"a":[1]}');
    expect(updated('{}', { kind: 'pull', path: ['a'], matches: [1] })).toBe('{}');
    expect(updated('{"a":[1,2,3]}', { kind: 'pop', path: ['a'], end: 'first' })).toBe('{"a":[2,3]}');
    expect(updated('{"a":[1,2,3]}', { kind: 'pop', path: ['a'], end: 'last' })).toBe('{"a":[1,2]}');
  });

  it('renames, stamps and replaces', () => {
    expect(updated('{"a":1,"b":2}', { kind: 'rename', path: ['a'], to: at('c.d') })).toBe(
      '{"b":2,"c":{"d":1}}',
    );
    expect(updated('{"b":2}', { kind: 'rename', path: ['a'], to: ['c'] })).toBe('{"b":2}');
    expect(
      updated(
        '{}',
        { kind: 'currentDate', path: ['a'], as: 'instant' },
        { kind: 'currentDate', path: ['b'], as: 'day' },
      ),
    ).toBe('{"a":"2026-11-20T19:00:00.000Z","b":"2026-11-21"}');
    expect(updated('{"a":1}', { kind: 'replace', data: { b: 2 } })).toBe('{"b":2}');
  });

  it('sets what is for new records in new records alone', () => {
    const operation: UpdateOperation = { kind: 'setOnInsert', path: ['a'], value: 1 };
    expect(updated('{}', operation)).toBe('{}');
    expect(applyUpdate({}, [operation], { ...MOMENT, isInsert: true })).toEqual({ a: 1 });
  });
});

describe('the laws of updates', () => {
  const name = fc.constantFrom('a', 'b', '0', '1', '__proto__', 'x.y');
  const number = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
  );
  const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.oneof(number, fc.string(), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const record = fc.dictionary(name, value, { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;
  const path = fc.array(name, { minLength: 1, maxLength: 3 });
  const operation: fc.Arbitrary<UpdateOperation> = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), path, value }),
    fc.record({ kind: fc.constant('unset' as const), path }),
    fc.record({ kind: fc.constantFrom('increment' as const, 'multiply' as const), path, by: number }),
    fc.record({ kind: fc.constantFrom('min' as const, 'max' as const), path, value }),
    fc.record({ kind: fc.constant('push' as const), path, values: fc.array(value, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('addToSet' as const), path, values: fc.array(value, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('pull' as const), path, matches: fc.array(value, { maxLength: 2 }) }),
    fc.record({
      kind: fc.constant('pop' as const),
      path,
      end: fc.constantFrom('first' as const, 'last' as const),
    }),
    fc.record({ kind: fc.constant('rename' as const), path, to: path }),
  );

  /** `undefined` for what is refused as a mistake of the caller's. */
  function attempt(before: JsonObject, ...operations: UpdateOperation[]): JsonObject | undefined {
    try {
      return applyUpdate(before, operations, MOMENT);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'INVALID_VALUE') return undefined;
      throw error;
    }
  }

  it('change nothing in the record given, and give JSON or a refusal', () => {
    const check = fc.property(record, operation, (before, one) => {
      const text = JSON.stringify(before);
      const result = attempt(before, one);
      expect(JSON.stringify(before)).toBe(text);
      if (result === undefined) return;
      expect(isSameJson(parseExactJson(printExactJson(result)), result)).toBe(true);
    });
    fc.assert(check, runsOf(2_000));
  });

  it('find what was set where it was set, and nothing where it was unset', () => {
    const check = fc.property(record, path, value, (before, place, put) => {
      const result = attempt(before, { kind: 'set', path: place, value: put });
      if (result === undefined) return;
      expect(isSameJson(valueAtPath(result, place), put)).toBe(true);
      const gone = attempt(result, { kind: 'unset', path: place });
      expect(gone === undefined ? undefined : (valueAtPath(gone, place) ?? null)).toBe(null);
    });
    fc.assert(check, runsOf(2_000));
  });

  it('leave alone what lies elsewhere', () => {
    const check = fc.property(record, operation, (before, one) => {
      const result = attempt(before, one);
      if (result === undefined) return;
      const touched = new Set('path' in one ? [one.path[0], 'to' in one ? one.to[0] : undefined] : []);
      for (const field of Object.keys(before)) {
        if (!touched.has(field)) expect(result[field]).toBe(before[field]);
      }
    });
    fc.assert(check, runsOf(2_000));
  });

  it('add and multiply as decimals do, whatever the order of the addends', () => {
    const amount = fc
      .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.integer({ min: 0, max: 12 }))
      .map(([digits, scale]) => new Decimal(digits.toString()).div(new Decimal(10).pow(scale)).toFixed());
    const check = fc.property(fc.array(amount, { minLength: 1, maxLength: 8 }), (amounts) => {
      const add = (list: readonly string[]) =>
        list.reduce<JsonObject>(
          (soFar, by) => applyUpdate(soFar, [{ kind: 'increment', path: ['n'], by }], MOMENT),
          {},
        );
      const Wide = Decimal.clone({ precision: 200 });
      const sum = amounts.reduce((soFar, by) => soFar.plus(by), new Wide(0));
      expect(new Wide(String(add(amounts).n)).equals(sum)).toBe(true);
      expect(isSameJson(add(amounts), add([...amounts].reverse()))).toBe(true);
    });
    fc.assert(check, runsOf(500));
  });

  it('add to a set once, however often, and pull what was added', () => {
    const check = fc.property(fc.array(value, { maxLength: 4 }), value, (list, one) => {
      const add: UpdateOperation = { kind: 'addToSet', path: ['a'], values: [one] };
      const once = applyUpdate({ a: list }, [add], MOMENT);
      expect(applyUpdate(once, [add], MOMENT)).toEqual(once);
      const pulled = applyUpdate(once, [{ kind: 'pull', path: ['a'], matches: [one] }], MOMENT);
      expect((pulled.a as JsonValue[]).some((element) => isSameJson(element, one))).toBe(false);
    });
    fc.assert(check, runsOf(500));
  });
});
