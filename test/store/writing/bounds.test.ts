import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  parseExactJson,
  printExactJson,
} from '../../../src/base/json/json.js';
import { keysOf } from '../../../src/base/model/keys-of.js';
import type {
  CollectionDefinition,
  FieldDefinition,
} from '../../../src/store/catalog/collection-definition.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import { type ToStoredOptions, toStored } from '../../../src/store/writing/validation.js';
import { readCollections } from '../../school/demo/declarations.js';

const NOW = new Date('2026-04-01T20:00:00.000Z');
const OPTIONS: ToStoredOptions = { timeZone: 'Asia/Kolkata', now: NOW, mode: 'merge' };

function collectionWith(declared: Partial<CollectionDefinition>) {
  return parseCollection({ name: 'thing', ...declared }, { source: 'test', isDeclared: true, version: 1 });
}

function json(text: string): JsonObject {
  const value = parseExactJson(text);
  if (!isJsonObject(value)) throw new Error('not an object');
  return value;
}

/** What is stored of the field, or what is expected of it. */
function store(field: Omit<FieldDefinition, 'name'>, value: string, options: Partial<ToStoredOptions> = {}) {
  const collection = collectionWith({ fields: [{ name: 'a', ...field } as FieldDefinition] });
  try {
    return printExactJson(
      toStored(collection, json(`{"a":${value}}`), { ...OPTIONS, ...options }).data.a ?? null,
    );
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault;
    return `expected ${fault.errors?.[0]?.expected}`;
  }
}

describe('the bounds of a field', () => {
  it.each([
    [{ minimum: 0, maximum: 100 }, ['0', '100', '99.99'], ['-0.01', '100.000000000000000000001']],
    [{ exclusiveMinimum: 0, exclusiveMaximum: 1 }, ['0.5'], ['0', '1', '-1']],
    [{ multipleOf: 0.01 }, ['10.01', '-3', '12345678901234567890.25'], ['10.005', '333.3333333333']],
    [{ multipleOf: 1, minimum: 1 }, ['1', '7777', '2.0'], ['1.5', '0', '-5']],
  ])('%j holds for numbers, exactly', (bounds, taken, refused) => {
    for (const value of taken) expect(store({ type: 'number', decimal: true, ...bounds }, value)).toBe(value);
    for (const value of refused)
      expect(store({ type: 'number', ...bounds }, value)).toContain('expected a number (');
  });

  it('holds for the length and the pattern of a text', () => {
    const field = { type: 'text', minLength: 2, maxLength: 4, pattern: '^[A-Z]+$' } as const;
    expect(store(field, '"ABCD"')).toBe('"ABCD"');
    for (const value of ['"A"', '"ABCDE"', '"AB1"']) {
      expect(store(field, value)).toBe(
        'expected text (of at least 2 characters, of at most 4 characters, of the pattern ^[A-Z]+$)',
      );
    }
  });

  it('holds for days, today by the clock of the school', () => {
    const field = { type: 'datetime', format: 'date', minimum: '1900-01-01', maximum: 'now' } as const;
    expect(store(field, '"2026-04-02"')).toBe('"2026-04-02"');
    expect(store(field, '"2026-04-03"')).toContain('not in the future');
    expect(store(field, '"1899-12-31"')).toContain('at least 1900-01-01');
  });

  it('holds for each element of a list and the members of objects', () => {
    expect(store({ type: 'number', list: true, minimum: 0 }, '[1,-1]')).toContain('at least 0');
    const fields = [{ name: 'b', type: 'number', minimum: 0 }] as const;
    expect(store({ type: 'object', list: true, fields }, '[{"b":-1}]')).toContain('at least 0');
  });

  it('lets stay what the record has already', () => {
    const fields = [
      { name: 'b', type: 'number', minimum: 0 },
      { name: 'c', type: 'text' },
    ] as const;
    const before = json('{"a":[{"b":1},{"b":-1}]}');
    const field = { type: 'object', list: true, fields } as const;
    expect(store(field, '[{"b":-1,"c":"x"}]', { before })).toBe('[{"b":-1,"c":"x"}]');
    expect(store(field, '[{"b":-2}]', { before })).toContain('at least 0');
  });
});

describe('the format phone', () => {
  it.each([
    '98765 43210',
    '098765-43210',
    '+91 98765 43210',
    '0091 98765 43210',
    '919876543210',
    '(98765) 43210',
  ])('stores %s in E.164', (written) => {
    expect(store({ type: 'text', format: 'phone' }, JSON.stringify(written))).toBe('"+919876543210"');
  });

  it('reads what was copied from a telephone, and other digits', () => {
    for (const written of ['\u202a+91 98765 43210\u202c', '+91\u201198765\u201143210', '९८७६५४३२१०']) {
      expect(store({ type: 'text', format: 'phone' }, JSON.stringify(written))).toBe('"+919876543210"');
    }
  });

  it('takes the country of the school', () => {
    const options = { callingCode: '880' };
    expect(store({ type: 'text', format: 'phone' }, '"01712 345678"', options)).toBe('"+8801712345678"');
  });

  it.each(['98765', '', '-', 'NA', '0000000000', 'null', '+91 98765 4321', '+91 98765 43210 1', 'call me'])(
    'refuses %j',
    (written) => {
      expect(store({ type: 'text', format: 'phone' }, JSON.stringify(written))).toContain(
        'a telephone number',
      );
    },
  );
});

describe('the format email', () => {
  it('takes addresses alone', () => {
    const field = { type: 'text', format: 'email' } as const;
    expect(store(field, '"a.b@school.example"')).toBe('"a.b@school.example"');
    for (const value of ['"foo@"', '"foo"', '"a b@c.d"', '"a@b@c.d"', '""', `"${'a'.repeat(250)}@b.cd"`]) {
      expect(store(field, value)).toContain('an e-mail address');
    }
  });
});

describe('a declaration', () => {
  it.each<[Partial<FieldDefinition>, string]>([
    [{ type: 'text', minimum: 0 }, '/fields/0/minimum'],
    [{ type: 'number', minimum: 'now' }, '/fields/0/minimum'],
    [{ type: 'datetime', maximum: 'tomorrow' }, '/fields/0/maximum'],
    [{ type: 'boolean', multipleOf: 1 }, '/fields/0/multipleOf'],
    [{ type: 'number', maxLength: 3 }, '/fields/0/maxLength'],
    [{ type: 'text', format: 'month', maxLength: 3 }, '/fields/0/maxLength'],
    [{ type: 'number', minimum: 2, maximum: 1 }, '/fields/0/minimum'],
    [{ type: 'text', pattern: '^a$' }, '/fields/0/pattern'],
    [{ type: 'text', pattern: '^(a+)+$', maxLength: 9 }, '/fields/0/pattern'],
    [{ type: 'number', minimum: 1, default: 0 }, '/fields/0/default'],
  ])('%j is refused', (field, pointer) => {
    const wrong = () => collectionWith({ fields: [{ name: 'a', ...field } as FieldDefinition] });
    expect(wrong).toThrow(expect.objectContaining({ errors: [expect.objectContaining({ pointer })] }));
  });

  it('names declared fields in a check and in the exceptions of a rule', () => {
    const fields = [{ name: 'a', type: 'text' }] as const;
    const check = { kind: 'when', field: 'a', is: ['x'], holds: { field: 'b', minimum: 0 } } as const;
    expect(() => collectionWith({ fields, checks: [check] })).toThrow('not declared');
    const months = { kind: 'inSession', session: 'a', of: ['a'] } as const;
    expect(() => collectionWith({ fields, checks: [months] })).toThrow('/checks/0');
    const rule = { name: 'r', parts: [{ path: 'a' }, { path: 'a' }], unless: [{ field: 'b' }] } as const;
    expect(() => collectionWith({ fields, uniqueTogether: [rule] })).toThrow('cannot be an exception');
  });
});

describe('the declared collections', () => {
  it('hold the value of a concession against its kind', async () => {
    const concession = (await readCollections()).get('fee_concession');
    if (concession === undefined) throw new Error('fee_concession is not declared');
    const sent = (kind: string, value: string) =>
      json(
        `{"name":"s","kind":"${kind}","value":${value},"session":"2026-27",` +
          '"from_month":"2026-04","to_month":"2027-03"}',
      );
    const write = (kind: string, value: string) => () =>
      toStored(concession, sent(kind, value), { ...OPTIONS, mode: 'create' });
    for (const value of ['100', '33.33']) expect(write('percent', value)).not.toThrow();
    expect(write('amount', '150')).not.toThrow();
    expect(write('percent', '100.01')).toThrow(
      'value is 100.01; at most 100 is expected where kind is percent',
    );
    for (const value of ['0', '-50', '1.005']) expect(write('amount', value)).toThrow('above 0');
  });

  it('take an empty text as none where a value is required', () => {
    const fields = [
      { name: 'way', type: 'text' },
      { name: 'number', type: 'text' },
    ] as const;
    const holds = { field: 'number', required: true } as const;
    const thing = collectionWith({ fields, checks: [{ kind: 'when', field: 'way', is: ['cheque'], holds }] });
    const write = (number: string) => () =>
      toStored(thing, json(`{"way":"cheque"${number}}`), { ...OPTIONS, mode: 'create' });
    for (const number of ['', ',"number":null', ',"number":""', ',"number":" \u200B"'])
      expect(write(number)).toThrow('number is missing; it is required where way is cheque');
    expect(write(',"number":"004217"')).not.toThrow();
  });

  it('name a section, subject and part of a subject once', async () => {
    const collections = await readCollections();
    const write = (name: string, text: string) => {
      const collection = collections.get(name);
      if (collection === undefined) throw new Error(`${name} is not declared`);
      return () => toStored(collection, json(text), { ...OPTIONS, mode: 'create' });
    };
    const place = (sections: string) => `{"name":"5","category":"Primary","sections":[${sections}]}`;
    expect(write('class', place('{"name":"A"},{"name":"B"}'))).not.toThrow();
    for (const twin of ['A', 'a', '\u200BA ']) {
      const twice = write('class', place(`{"name":"A"},{"name":"${twin}"}`));
      expect(twice).toThrow('/sections/1/name');
    }
    const part = (name: string) => `{"name":"${name}","max":10,"weight":1,"marks":5,"state":"scored"}`;
    const result = (subjects: string) =>
      '{"session":"2026-27","term":"halfyear","admission_no":"N-1","student":"s","class":"5","section":"A",' +
      `"subjects":[${subjects}]}`;
    const subject = (name: string, ...parts: string[]) =>
      `{"subject":"${name}","components":[${parts.map(part).join()}]}`;
    expect(
      write('result', result(`${subject('Art', 'Written')},${subject('Maths', 'Written')}`)),
    ).not.toThrow();
    expect(write('result', result(`${subject('Maths', 'W')},${subject('maths ', 'V')}`))).toThrow(
      '/subjects/1/subject: "maths" is there twice, but for case and blanks',
    );
    expect(write('result', result(subject('Maths', 'Oral', 'oral')))).toThrow(
      '/subjects/0/components/1/name',
    );
  });

  it('have marks only where a part was scored', async () => {
    const result = (await readCollections()).get('result');
    if (result === undefined) throw new Error('result is not declared');
    const write = (part: string) => () =>
      toStored(
        result,
        json(
          '{"session":"2026-27","term":"halfyear","admission_no":"N-1","student":"s","class":"5",' +
            '"section":"A","subjects":[{"subject":"Art","components":[{"name":"Written","max":10,' +
            `"weight":1,${part}}]}]}`,
        ),
        { ...OPTIONS, mode: 'create' },
      );
    for (const state of ['absent', 'exempt', 'not_entered']) {
      for (const none of ['', ',"marks":null']) expect(write(`"state":"${state}"${none}`)).not.toThrow();
      expect(write(`"state":"${state}","marks":0`)).toThrow(
        `marks is 0; no value is expected where state is ${state}`,
      );
    }
    expect(write('"state":"scored","marks":0')).not.toThrow();
    expect(write('"marks":11')).toThrow('marks 11 is above max 10');
  });

  it.each([
    ['fee_due', '"student":"s","class":"5","section":"A","fee_head":"F","amount":1,"due_date":"2026-07-10"'],
    ['fee_concession', '"name":"s","kind":"amount","value":1'],
    ['fee_plan', '"fee_head":"F","amount":1'],
  ])('has months of its session alone: %s', async (name, others) => {
    const collection = (await readCollections()).get(name);
    if (collection === undefined) throw new Error(`${name} is not declared`);
    const write = (month: string, sessionFirstMonth?: number) => () => {
      const months = `"month":"${month}","from_month":"${month}","to_month":"${month}","months":["${month}"]`;
      const sent = json(`{${others},"session":"2026-27",${months}}`);
      return toStored(collection, sent, { ...OPTIONS, sessionFirstMonth, mode: 'create' });
    };
    for (const month of ['2026-04', '2027-03']) expect(write(month)).not.toThrow();
    for (const month of ['2026-03', '2027-04', '2025-07'])
      expect(write(month)).toThrow(`a month of the session 2026-27 is expected, "${month}" was sent`);
    expect(write('2026-01', 1)).not.toThrow();
    expect(write('2027-01', 1)).toThrow('a month of the session 2026-27');
  });

  it('compare demands that are not cancelled', async () => {
    const due = (await readCollections()).get('fee_due');
    if (due === undefined) throw new Error('fee_due is not declared');
    const demand = '"student":{"value":"s"},"session":"2026-27","month":"2026-04","fee_head":"Tuition"';
    const keys = (more: string) => keysOf(due, json(`{${demand}${more}}`), 'Asia/Kolkata');
    expect(keys('')).toEqual({ student_month_head: '["s","2026-27","2026-04","tuition"]' });
    expect(keys(',"cancelled_on":null')).toEqual(keys(''));
    expect(keys(',"cancelled_on":"2026-05-01"')).toBeUndefined();
  });
});
