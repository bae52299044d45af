import { expect, it } from '@jest/globals';
import { addressesOfRecord } from '../../src/portal/browser/records/main-fields.js';

const fields = ['sequence', 'guardian_phone', 'mother_mobile', 'email', 'father_email', 'remark'].map(
  (name) => ({ name }),
);
const addressesOf = (data: object) =>
  addressesOfRecord({ fields }, data as Readonly<Record<string, unknown>>);

it.each([
  [
    'numbers and addresses in the order of the fields',
    { email: 'a@b.example', guardian_phone: '+915123456789' },
    ['+915123456789', 'a@b.example'],
  ],
  ['each once', { email: 'a@b.example', father_email: 'a@b.example' }, ['a@b.example']],
  ['no number of another field', { sequence: '1234567890', remark: '5123456789' }, []],
  ['nothing that only looks so', { guardian_phone: 'ask at home', email: 'none', remark: 7 }, []],
])('finds %s', (_, data, found) => {
  expect(addressesOf(data)).toEqual(found);
});

it('finds five at most', () => {
  const many = Array.from({ length: 9 }, (_, index) => ({ name: `email_${index}` }));
  const data = Object.fromEntries(many.map(({ name }) => [name, `${name}@b.example`]));
  expect(addressesOfRecord({ fields: many }, data)).toHaveLength(5);
});
