/** The documents of documents.ts with nothing declared, and with their fields declared. */
import type { Collection } from '../../../src/base/model/collection.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';

const options = { source: 'test', isDeclared: false, version: 1 };

export const LOOSE: Collection = parseCollection({ name: 'loose' }, options);
export const OTHER: Collection = parseCollection({ name: 'other' }, options);
export const DECLARED: Collection = parseCollection(
  {
    name: 'declared',
    fields: [
      { name: 'name', type: 'text', index: true, required: true },
      { name: 'amount', type: 'number', decimal: true, index: true },
      { name: 'count', type: 'number' },
      { name: 'active', type: 'boolean', index: true },
      { name: 'at', type: 'datetime', index: true },
      { name: 'tags', type: 'text', list: true },
      { name: 'scores', type: 'number', list: true },
      {
        name: 'lines',
        type: 'object',
        list: true,
        fields: [
          { name: 'head', type: 'text' },
          { name: 'amount', type: 'number' },
        ],
      },
      { name: 'address', type: 'object', fields: [{ name: 'city', type: 'text' }] },
    ],
  },
  options,
);
