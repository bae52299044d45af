import { describe, expect, it } from '@jest/globals';
import {
  distinctGraphqlNames,
  toEnumValueName,
  toFieldName,
  toSingular,
  toTypeName,
} from '../../../src/base/languages/graphql-names.js';

describe('names in GraphQL', () => {
  it('writes fields in camel case', () => {
    expect(['created_on', 'roll_no', 'SMS', 'x-y', 'already', '2nd', '$'].map(toFieldName)).toEqual([
      'createdOn',
      'rollNo',
      'sms',
      'xY',
      'already',
      '_2nd',
      'X',
    ]);
  });

  it('gives a field no name that every object has', () => {
    expect(['constructor', 'to_string', 'valueOf', '__proto__'].map(toFieldName)).toEqual([
      'constructor_',
      'toString_',
      'valueOf_',
      'proto',
    ]);
  });

  it('writes types in Pascal case', () => {
    expect(['fee_receipt', 'feeReceipt', 'task'].map(toTypeName)).toEqual([
      'FeeReceipt',
      'FeeReceipt',
      'Task',
    ]);
  });

  it('writes enum values in capitals, whatever they are', () => {
    expect(
      ['cash', 'half_day', 'Pre-primary', '5', 'true', 'é', '学校', '2025-26'].map(toEnumValueName),
    ).toEqual(['CASH', 'HALF_DAY', 'PRE_PRIMARY', '_5', 'TRUE_', 'E', 'X', '_2025_26']);
  });

  it('gives a taken name a number', () => {
    expect(distinctGraphqlNames(['A', 'A', 'B', 'A'], ['B'])).toEqual(['A', 'A_2', 'B_2', 'A_3']);
  });

  it('knows the element of a list', () => {
    expect(['lines', 'classes', 'entries', 'class', 'roles', 'boxes'].map(toSingular)).toEqual([
      'line',
      'class',
      'entry',
      'class',
      'role',
      'box',
    ]);
  });
});
