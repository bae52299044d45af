import { describe, expect, it } from '@jest/globals';
import { parseExactJson } from '../../../src/base/json/json.js';
import { createParameterReader, parseCount, readFlag } from '../../../src/gateway/rest/parameter-reader.js';
import type { Parameter } from '../../../src/gateway/rest/route.js';

const query = (name: string, isRequired = false): Parameter => ({
  name,
  in: 'query',
  isRequired,
  description: `the ${name}.`,
  schema: { type: 'string' },
});
const read = createParameterReader({ parameters: [query('oquery'), query('name.value'), query('limit')] });
const readBoth = createParameterReader({
  parameters: [query('name.value', true), query('limit')],
  body: { kind: 'parameters', isRequired: false, description: '', schema: {} },
});

describe('parameters', () => {
  it('are what the query says', () => {
    expect({ ...read({ oquery: 'a=b', limit: '' }, undefined) }).toEqual({ oquery: 'a=b', limit: '' });
  });

  it('lets the one parameter through that libraries add against caches', () => {
    expect({ ...read({ _: '1700000000' }, undefined) }).toEqual({});
  });

  it('refuses an unknown name, with the one that was meant', () => {
    expect(() => read({ oqury: 'a=b' }, undefined)).toThrow(
      expect.objectContaining({
        code: 'MALFORMED_REQUEST',
        message: 'There is no parameter "oqury" here. Did you mean "oquery"?',
      }),
    );
    expect(() => read({ colour: 'red' }, undefined)).toThrow(
      'There is no parameter "colour" here. Known are oquery, name.value, limit.',
    );
    expect(() => createParameterReader({ parameters: [] })({ a: '1' }, undefined)).toThrow(
      'This path has no parameters.',
    );
  });

  it.each(['__proto__', 'constructor', 'toString'])('refuses %s like any unknown name', (name) => {
    expect(() => read(Object.fromEntries([[name, 'x']]), undefined)).toThrow('There is no parameter');
  });

  it('refuses a name given twice', () => {
    expect(() => read({ limit: ['1', '2'] }, undefined)).toThrow('The parameter limit is given 2 times');
  });

  it('are also taken from a body, nested or not, numbers with their digits', () => {
    expect({ ...readBoth({}, parseExactJson('{"name": {"value": "s1"}, "limit": 10}')) }).toEqual({
      'name.value': 's1',
      limit: '10',
    });
    expect({ ...readBoth({}, parseExactJson('{"name.value": "s1"}')) }).toEqual({ 'name.value': 's1' });
    expect({ ...readBoth({ 'name.value': 's1' }, parseExactJson('{"name.value": "s1"}')) }).toEqual({
      'name.value': 's1',
    });
  });

  it('refuses a query and a body that disagree', () => {
    expect(() => readBoth({ 'name.value': 's1' }, parseExactJson('{"name.value": "s2"}'))).toThrow(
      'they disagree',
    );
  });

  it.each(['[]', '"text"', '3', '{"name.value": []}', '{"name.value": [1]}'])(
    'refuses the body %s',
    (body) => {
      expect(() => readBoth({}, parseExactJson(body))).toThrow(expect.objectContaining({ status: 400 }));
    },
  );

  it('refuses a required one that is missing or empty', () => {
    expect(() => readBoth({}, undefined)).toThrow('The parameter name.value is missing: the name.value.');
    expect(() => readBoth({ 'name.value': '' }, undefined)).toThrow('is missing');
  });

  it('says of a missing one which values there are, or what one looks like', () => {
    const type = { ...query('type', true), schema: { type: 'string', enum: ['month', 'head'] } };
    expect(() => createParameterReader({ parameters: [type] })({}, undefined)).toThrow(
      expect.objectContaining({
        message: 'The parameter type is missing: the type. Expected one of month, head.',
        errors: [expect.objectContaining({ parameter: 'type', expected: 'one of month, head' })],
      }),
    );
    const month = { ...query('start_month', true), example: '2026-04' };
    expect(() => createParameterReader({ parameters: [month] })({}, undefined)).toThrow(
      'The parameter start_month is missing: the start_month. For example start_month=2026-04.',
    );
  });
});

describe('values', () => {
  it.each(['0', '-1', '1.5', '1e3', ' 1', '9999999999', 'ten', ''])('refuses %p as a count', (text) => {
    expect(() => parseCount('limit', text, 1)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
  });

  it('reads counts and flags', () => {
    expect(parseCount('skip', '0', 0)).toBe(0);
    expect(readFlag({ ci: 'true' }, 'ci')).toBe(true);
    expect(readFlag({ ci: 'false' }, 'ci')).toBe(false);
    expect(['True', 'FALSE', '1', '0'].map((text) => readFlag({ ci: text }, 'ci'))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(() => readFlag({ ci: 'yes' }, 'ci')).toThrow('expected true or false');
  });
});
