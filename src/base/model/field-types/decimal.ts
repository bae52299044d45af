import { NUMBER } from './number.js';
import type { ScalarType } from './scalar-type.js';

/** Money and other exact amounts: a number that a front end must not round. */
export const DECIMAL = {
  ...NUMBER,
  declared: { type: 'number', isDecimal: true },
  jsonSchema: { type: 'number', title: 'Exact amount' },
} as const satisfies ScalarType;
