/** Bodies are read the same by the quick way as by the exact one. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ExactNumber, parseExactJson } from '../../../src/base/json/json.js';
import { parseJsonBody, scanJsonText } from '../../../src/base/json/json-body-parser.js';

const NUMBERS = [
  ...['0', '-0', '5', '-5', '1250.5', '1250.50', '-0.5', '0.00001', '0.000001', '0.0000012', '1e3', '1E+3'],
  ...['12345678901234', '123456789012345', '1234567890123456', '0.1234567890123', '12345678901234567890'],
  ...['1.0', '100', '-100.25', '1e-400', '01', '1.', '.5', '--1', '1.2.3', '9007199254740993'],
];
const number = fc.oneof(fc.constantFrom(...NUMBERS), fc.double().map(String), fc.integer().map(String));
const name = fc.constantFrom(
  '"a"',
  '"b"',
  '"__proto__"',
  '"a:1.50,\\"b"',
  '"\\u0061"',
  '"1"',
  '1.50',
  '"\\u00011"',
);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '"2026-07-01T03:05:00.000Z"', '"\\\\"', ''),
    fc.constantFrom('"\\u00011.50"', '1.50"a"', 'tru1.50', '"é"', '"€1.50"', '1.50.1', '2e', '"😀"'),
    fc.array(tie('json'), { maxLength: 4 }).map((parts) => `[${parts.join(' ,')}]`),
    fc
      .array(fc.tuple(name, tie('json')), { maxLength: 4 })
      .map((members) => `{${members.map(([key, value]) => `${key} : ${value}`).join(',\n')}}`),
  ),
}));

/** What becomes of a text: a value, numbers with their digits, or the refusal in words. */
function outcome(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { refusal: error.message };
    throw error;
  }
}

const parseBody = (text: string) => parseJsonBody(text, Buffer.from(text));

describe('a body', () => {
  it('is read as the exact parser reads it, whatever is in it', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(outcome(parseBody, text)).toEqual(outcome(parseExactJson, text));
      }),
      { numRuns: 3000 },
    );
  });

  it('has exact numbers, at the top and below', () => {
    expect(parseBody('5')).toEqual(new ExactNumber('5'));
    expect(parseBody('[{"a":[-0.5]}]')).toEqual([{ a: [new ExactNumber('-0.5')] }]);
  });

  it('with a name twice is refused', () => {
    expect(() => parseBody('{"a":1,"b":{"c":1,"c":2}}')).toThrow("Duplicate key 'c' encountered");
  });
});

describe('the look at a text', () => {
  it.each([
    ['{"a":1,"b":{"c":"d:e"}}', { members: 3, exactNumbers: [] }],
    ['["2026-07-01T03:05:00.000Z",1250.5,-7]', { members: 0, exactNumbers: [] }],
    ['[1.50]', { members: 0, exactNumbers: [1, 5] }],
    ['[-0]', { members: 0, exactNumbers: [1, 3] }],
    ['[1e3]', { members: 0, exactNumbers: [1, 4] }],
    ['[0.0000001]', { members: 0, exactNumbers: [1, 10] }],
    ['[1234567890123456]', { members: 0, exactNumbers: [1, 17] }],
  ])('%s', (text, scan) => {
    expect(scanJsonText(Buffer.from(text))).toEqual(scan);
  });
});
