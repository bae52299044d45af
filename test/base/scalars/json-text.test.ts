import { describe, expect, it } from '@jest/globals';
import { parsePlainJson } from '../../../src/base/json/json.js';
import { JsonText, printAnswer, printResult, toSplicedData } from '../../../src/base/scalars/json-text.js';

describe('JSON that is text already', () => {
  it('stands in a result as it is, its digits with it', () => {
    const result = {
      data: { a: new JsonText('{"n":1.10}'), b: [new JsonText('12345678901234567890'), null] },
    };
    expect(printResult(result)).toBe('{"data":{"a":{"n":1.10},"b":[12345678901234567890,null]}}');
  });

  it('may be the whole data', () => {
    expect(printResult({ errors: undefined, data: toSplicedData('{"x":[1]}') })).toBe('{"data":{"x":[1]}}');
  });

  it('stays bytes in an answer where it came as bytes', () => {
    const data = toSplicedData(Buffer.from('{"x":"नाम"}'));
    expect(printAnswer({ data })).toEqual(Buffer.from('{"data":{"x":"नाम"}}'));
    expect(printResult({ data })).toBe('{"data":{"x":"नाम"}}');
    expect(printAnswer({ errors: [], data })).toBe('{"errors":[],"data":{"x":"नाम"}}');
    expect(printAnswer({ data: toSplicedData('{"x":1}') })).toBe('{"data":{"x":1}}');
  });

  it('is never confused with a text of a record', () => {
    const mark = printResult({ a: new JsonText('$&$1') });
    expect(mark).toBe('{"a":$&$1}');
    expect(printResult({ a: 'json-text:0', b: new JsonText('1') })).toBe('{"a":"json-text:0","b":1}');
  });

  it('is not printed past printResult', () => {
    expect(() => JSON.stringify(new JsonText('1'))).toThrow('printResult');
  });
});

describe('the numbers of a request body', () => {
  it('are JavaScript numbers where a float holds them', () => {
    expect(parsePlainJson('{"a":1,"b":0.1,"c":1e3,"id":"0193a8f2-1234-7000-8000-1234567890ab"}')).toEqual({
      a: 1,
      b: 0.1,
      c: 1000,
      id: '0193a8f2-1234-7000-8000-1234567890ab',
    });
  });

  it('are exact where a float would change them', () => {
    expect(String((parsePlainJson('[0.12345678901234567891]') as unknown[])[0])).toBe(
      '0.12345678901234567891',
    );
    expect(String((parsePlainJson('[12345678901234567]') as unknown[])[0])).toBe('12345678901234567');
    expect(String((parsePlainJson('[1e400]') as unknown[])[0])).toBe('1e400');
  });
});
