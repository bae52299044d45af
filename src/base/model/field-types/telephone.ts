import { DEFAULT_CALLING_CODE, toE164PhoneNumber } from '../phone-number.js';
import type { Clock, ValueCondition, ValueTest } from '../value-test.js';
import type { ScalarType } from './scalar-type.js';
import { TEXT } from './text.js';
import { textTest } from './text-tests.js';

/** A telephone number, stored in E.164, e.g. `+919876543210`, however it was written. */
export const TELEPHONE = {
  ...TEXT,
  declared: { type: 'text', format: 'phone' },
  jsonSchema: { type: 'string', title: 'Telephone number' },
  toStored: (sent, _timeZone, callingCode = DEFAULT_CALLING_CODE) =>
    typeof sent === 'string' ? toE164PhoneNumber(sent, callingCode) : undefined,
  expectation: 'a telephone number such as 98765 43210 or +91 98765 43210',
  testOf,
} as const satisfies ScalarType;

/** A number is found in whatever way it is written, and in records that are older than the format. */
function testOf(condition: ValueCondition, { callingCode = DEFAULT_CALLING_CODE }: Clock): ValueTest {
  const test = textTest(condition, TELEPHONE);
  if (test.kind !== 'is' && test.kind !== 'in') return test;
  const values = test.kind === 'is' ? [test.value] : test.values;
  const numbers = values.map((value) =>
    typeof value === 'string' ? (toE164PhoneNumber(value, callingCode) ?? value) : value,
  );
  const all = [...new Set([...values, ...numbers])];
  return all.length === 1 ? test : { kind: 'in', values: all };
}
