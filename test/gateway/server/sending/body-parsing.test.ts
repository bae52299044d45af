import { describe, expect, it } from '@jest/globals';
import { type BodyShape, bodyShape } from '../../../../src/base/json/body-shape.js';
import { printExactJson } from '../../../../src/base/json/json.js';
import { parseBody as parse } from '../../../../src/gateway/server/sending/body-parsing.js';

const SHAPE: BodyShape = bodyShape('large', 100_000);

function parseBody(body: Buffer) {
  return parse(body, SHAPE);
}

describe('a JSON body', () => {
  it('keeps every digit of a number', () => {
    const text = '{"amount":1250.10,"large":12345678901234567890,"small":1e-400}';
    expect(printExactJson(parseBody(Buffer.from(text)))).toBe(text);
  });

  it.each([
    ['{"a":1,}', "The body is not JSON: Quoted object key expected but got '}' at position 7."],
    ['{"a":', 'The body is not JSON: Object value expected'],
    ['[1] 2', "The body is not JSON: Expected end of input but got '2' at position 4."],
    ['{"a":1,"a":2}', "The body is not JSON: Duplicate key 'a' encountered at position 8."],
  ])('that is %s is refused with the position', (text, detail) => {
    expect(() => parseBody(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: 'MALFORMED_REQUEST', message: expect.stringContaining(detail) }),
    );
  });

  it('that is not UTF-8 is refused', () => {
    expect(() => parseBody(Buffer.from([0x22, 0xff, 0x22]))).toThrow('The body is not UTF-8.');
  });

  it('that is nested without end is refused, not fatal', () => {
    expect(() => parseBody(Buffer.from('['.repeat(200_000)))).toThrow('nested too deeply');
  });

  it('cannot set a prototype', () => {
    const body = parseBody(Buffer.from('{"__proto__":{"isAdmin":true}}'));
    expect(Object.keys(body as object)).toEqual(['__proto__']);
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
  });
});
