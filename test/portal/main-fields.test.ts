import { describe, expect, it } from '@jest/globals';
import { type DescribedField, mainFieldsOf } from '../../src/portal/browser/records/main-fields.js';

const field = (name: string, about: Partial<DescribedField> = {}): DescribedField => ({
  ...{ name, type: 'text', isList: false, isRequired: false, isIndexed: false },
  ...about,
});
const required = { isRequired: true };
const indexed = { isIndexed: true };
const namesOf = (fields: readonly DescribedField[], record: Readonly<Record<string, unknown>>) =>
  mainFieldsOf({ labelField: 'name', fields }, record).map(({ name }) => name);

describe('what a record is known by', () => {
  it('is what all of its kind have, then what they are searched by, in the order of the declaration', () => {
    const fields = [
      field('house', indexed),
      field('class', required),
      field('remark'),
      field('on', required),
    ];
    expect(namesOf(fields, { house: 'Red', class: '5', remark: 'late', on: '2026-04-01' })).toEqual([
      'house',
      'class',
      'on',
    ]);
  });

  it('is neither its label, nor a list, an object, or what it does not say', () => {
    const fields = [
      field('name', required),
      field('roles', { ...required, isList: true }),
      field('lines', { ...required, type: 'object' }),
      field('phone', indexed),
      field('house', indexed),
    ];
    expect(namesOf(fields, { name: 'Asha', roles: ['clerk'], lines: {}, phone: null, house: '' })).toEqual(
      [],
    );
  });

  it('is seven fields at most, of which those that all have come first', () => {
    const many = Array.from({ length: 9 }, (_, index) => field(`f${index}`, index < 5 ? indexed : required));
    const record = Object.fromEntries(many.map(({ name }) => [name, 'x']));
    expect(namesOf(many, record)).toEqual(['f0', 'f1', 'f2', 'f5', 'f6', 'f7', 'f8']);
  });

  it('says no and zero, which are values', () => {
    expect(namesOf([field('paid', required), field('sum', required)], { paid: false, sum: 0 })).toEqual([
      'paid',
      'sum',
    ]);
  });
});
