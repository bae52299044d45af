import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  byScalar,
  findScalar,
  SCALAR_TYPES,
  valueKindOf,
} from '../../../src/base/model/field-types/scalar-types.js';

const SCHEMA = JSON.parse(readFileSync('schema/collections/collection.schema.json', 'utf8'));
const { type, format } = SCHEMA.definitions.field.properties;

describe('the scalar types', () => {
  it('are declared by words that the schema of declarations knows, and it knows no other', () => {
    const declared = Object.values(SCALAR_TYPES).map((one) => one.declared);
    expect(new Set(type.enum)).toEqual(new Set([...declared.map((one) => one.type), 'reference', 'object']));
    expect(new Set(format.enum)).toEqual(new Set(declared.flatMap((one) => one.format ?? [])));
  });

  it('are told apart by what declares them', () => {
    const found = byScalar((one) => findScalar(one.declared as Parameters<typeof findScalar>[0]));
    expect(found).toEqual(byScalar((_, name) => name));
  });

  it('are no type for what no declaration may say', () => {
    expect(findScalar({ type: 'number', format: 'month' })).toBeUndefined();
    expect(() => valueKindOf({ type: 'number', format: 'month' })).toThrow('number of the format month');
  });
});
