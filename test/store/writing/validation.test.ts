import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  parseExactJson,
  printExactJson,
} from '../../../src/base/json/json.js';
import { keysOf } from '../../../src/base/model/keys-of.js';
import { isRecordId } from '../../../src/base/model/record-id.js';
import type { CollectionDefinition } from '../../../src/store/catalog/collection-definition.js';
import { type ToStoredOptions, toStored, toStoredAll } from '../../../src/store/writing/validation.js';
import { collectionOf, NOTE, PRESENCE, RECEIPT, STUDENT } from '../people.js';

const NOW = new Date('2026-04-01T20:00:00.000Z');
const OPTIONS: ToStoredOptions = { timeZone: 'Asia/Kolkata', now: NOW, mode: 'create' };

function json(text: string): JsonObject {
  const value = parseExactJson(text);
  if (!isJsonObject(value)) throw new Error('not an object');
  return value;
}

/** What is stored of a body, as JSON text. */
function store(text: string, definition = STUDENT, options: Partial<ToStoredOptions> = {}): string {
  return printExactJson(toStored(collectionOf(definition), json(text), { ...OPTIONS, ...options }).data);
}

/** The faults a body is refused for: pointer and expectation. */
function faults(
  text: string,
  definition: CollectionDefinition = STUDENT,
  options: Partial<ToStoredOptions> = {},
): [string | undefined, string | undefined][] {
  try {
    toStored(collectionOf(definition), json(text), { ...OPTIONS, ...options });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.status).toBe(400);
    return (error.errors ?? []).map((fault) => [fault.pointer, fault.expected]);
  }
  throw new Error('the body was accepted');
}

/** The faults of one field beside the required ones. */
function faultOf(field: string): string | undefined {
  const [fault] = faults(`{"number":"1","name":"A",${field}}`);
  return fault?.[0];
}

describe('a body is refused', () => {
  it('with all its faults at once', () => {
    expect(
      faults(
        '{"name":7,"fee":"12","status":"gone","marks":[{"got":1},{"subject":"x","got":"y"}],"tags":["a",1]}',
      ),
    ).toEqual([
      ['/name', 'text'],
      ['/fee', 'a number'],
      ['/status', 'one of active, left'],
      ['/marks/0/subject', 'text'],
      ['/marks/1/got', 'a number'],
      ['/tags/1', 'text'],
      ['/number', 'text'],
    ]);
  });

  it('saying what was sent', () => {
    try {
      toStored(collectionOf(STUDENT), json('{"number":"1","name":"A","fee":"12"}'), OPTIONS);
      throw new Error('accepted');
    } catch (error) {
      expect(error).toMatchObject({
        message: '/fee: a number is expected, "12" was sent',
        errors: [{ pointer: '/fee', expected: 'a number', sent: '12' }],
      });
    }
  });

  it.each([
    ['a time without an offset', '"seen":"2026-04-01T10:00:00"', '/seen'],
    ['a day the calendar does not have', '"born":"2026-02-30"', '/born'],
    ['an instant where a day is due', '"born":"2026-02-03T00:00:00Z"', '/born'],
    ['a datetime as a number', '"seen":1700000000', '/seen'],
    ['a session of two years', '"session":"2026-28"', '/session'],
    ['a boolean as text', '"is_boarder":"true"', '/is_boarder'],
    ['one value where a list is due', '"tags":"a"', '/tags'],
    ['null in a list', '"tags":[null]', '/tags/0'],
    ['a reference by number', '"tutor":7', '/tutor'],
    ['a reference without value', '"tutor":{"label":"x"}', '/tutor'],
    ['a reference that is no id', '"tutor":"a b"', '/tutor'],
    ['a label that is no text', '"tutor":{"value":"x","label":1}', '/tutor/label'],
    ['NUL in a text', '"class":"a\\u0000b"', '/class'],
    ['half a surrogate pair', '"class":"\\ud83d"', '/class'],
    ['NUL in an undeclared text', '"other":{"deep":["\\u0000"]}', '/other/deep/0'],
    ['NUL in an undeclared name', '"a\\u0000":1', '/a\u0000'],
    ['an indexed text over the size of an entry', `"class":"${'ü'.repeat(1001)}"`, '/class'],
    ['a number that would be written out in 400 digits', '"fee":1e999999', '/fee'],
    ['an endless undeclared number', `"other":${'9'.repeat(300)}`, '/other'],
  ])('with %s', (_name, field, pointer) => {
    expect(faultOf(field)).toBe(pointer);
  });

  it('with null where a value is required', () => {
    expect(faults('{"number":"1","name":null}')).toEqual([['/name', 'text']]);
  });

  it('nested without end', () => {
    const deep = `${'['.repeat(60)}1${']'.repeat(60)}`;
    expect(faults(`{"x":${deep}}`, NOTE)[0]?.[1]).toBe('at most 32 levels');
  });

  it('with marks above their maximum', () => {
    expect(faultOf('"marks":[{"subject":"a","got":5,"max":5},{"subject":"b","got":5.01,"max":5}]')).toBe(
      '/marks/1/got',
    );
  });

  it('with a total that is not the exact sum of its lines', () => {
    expect(faults('{"total":0.3,"lines":[{"amount":0.1},{"amount":0.2,"fine":0.01}]}', RECEIPT)).toEqual([
      ['/total', '0.31'],
    ]);
    expect(store('{"total":0.30,"lines":[{"amount":0.1},{"amount":0.2}]}', RECEIPT)).toContain(
      '"total":0.30',
    );
  });

  it('with the index of the record where there are several', () => {
    const bodies = [json('{"number":"1","name":"A"}'), json('{"number":"2"}')];
    expect(() => toStoredAll(collectionOf(STUDENT), bodies, OPTIONS)).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ pointer: '/1/name' })] }),
    );
  });

  it('with a pointer that is escaped', () => {
    expect(faultOf('"a/b~c":"\\u0000"')).toBe('/a~1b~0c');
  });
});

describe('what is stored', () => {
  it('has defaults, and created_on in every collection', () => {
    expect(JSON.parse(store('{"number":"1","name":"A"}'))).toEqual({
      number: '1',
      name: 'A',
      status: 'active',
      created_on: '2026-04-01T20:00:00.000Z',
    });
    expect(store('{"any":[1,{"b":null}]}', NOTE)).toBe(
      '{"any":[1,{"b":null}],"created_on":"2026-04-01T20:00:00.000Z"}',
    );
  });

  it('keeps the created_on that was sent', () => {
    expect(store('{"created_on":"long ago"}', NOTE)).toBe('{"created_on":"long ago"}');
  });

  it('keeps every digit of a number', () => {
    expect(store('{"x":12345678901234567890.10}', NOTE)).toContain('"x":12345678901234567890.10');
  });

  it('has datetimes in UTC, a bare day as midnight in the zone', () => {
    expect(store('{"number":"1","name":"A","seen":"2026-04-01T10:00:00+05:30"}')).toContain(
      '"seen":"2026-04-01T04:30:00.000Z"',
    );
    expect(store('{"number":"1","name":"A","seen":"2026-04-01"}')).toContain(
      '"seen":"2026-03-31T18:30:00.000Z"',
    );
  });

  it('has references as value and label', () => {
    expect(store('{"number":"1","name":"A","tutor":"u1"}')).toContain('"tutor":{"value":"u1"}');
    expect(store('{"number":"1","name":"A","tutor":{"value":"u1","label":"Usha"}}')).toContain(
      '"tutor":{"value":"u1","label":"Usha"}',
    );
  });

  it('treats __proto__ as a name like any other', () => {
    expect(store('{"__proto__":{"x":1}}', NOTE)).toContain('"__proto__":{"x":1}');
  });
});

describe('a merge', () => {
  const merge = (text: string) => toStored(collectionOf(STUDENT), json(text), { ...OPTIONS, mode: 'merge' });

  it('needs no required field, and stamps nothing', () => {
    expect(merge('{"class":"6"}')).toMatchObject({ data: { class: '6' }, removed: [] });
  });

  it('removes optional and undeclared fields by null', () => {
    expect(merge('{"class":null,"other":null}')).toMatchObject({ data: {}, removed: ['class', 'other'] });
  });

  it('does not remove a required field', () => {
    expect(faults('{"name":null}', STUDENT, { mode: 'merge' })).toEqual([['/name', 'text']]);
  });
});

describe('keys of records that are unique together', () => {
  const keyOf = (text: string, zone = 'Asia/Kolkata') => keysOf(collectionOf(PRESENCE), json(text), zone);

  it('count an instant by its day in the zone', () => {
    expect(keyOf('{"student":{"value":"s1"},"created":"2026-04-01T20:00:00.000Z"}')).toEqual({
      student_day: '["s1","2026-04-02"]',
    });
    expect(keyOf('{"student":{"value":"s1"},"created":"2026-04-01T20:00:00.000Z"}', 'UTC')).toEqual({
      student_day: '["s1","2026-04-01"]',
    });
  });

  it('are none where a value is missing', () => {
    expect(keyOf('{"student":{"value":"s1"}}')).toBeUndefined();
    expect(keyOf('{"student":{"value":null},"created":"2026-04-01T20:00:00.000Z"}')).toBeUndefined();
  });
});

describe('an _id', () => {
  it('is 1 to 64 safe characters', () => {
    expect(['a', 'A-1_b.c:d', 'x'.repeat(64)].every(isRecordId)).toBe(true);
    expect(['', 'x'.repeat(65), 'a b', 'a/b', 'é', "a'b", 7, null].some(isRecordId)).toBe(false);
  });
});
