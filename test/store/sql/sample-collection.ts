/** A collection with a field of every type and form, for the tests of filters, orders and projections. */
import type { Collection } from '../../../src/base/model/collection.js';
import type { FieldDefinition } from '../../../src/store/catalog/collection-definition.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';

const FIELDS: readonly FieldDefinition[] = [
  { name: 'name', type: 'text', index: true, searchable: true },
  { name: 'code', type: 'text' },
  { name: 'amount', type: 'number', decimal: true, index: true },
  { name: 'active', type: 'boolean', index: true },
  { name: 'created_on', type: 'datetime', index: true },
  { name: 'day', type: 'datetime', format: 'date', index: true },
  { name: 'month', type: 'text', format: 'month', index: true },
  { name: 'person', type: 'reference', target: 'pltf_user', index: true, searchable: true },
  { name: 'roles', type: 'text', list: true },
  { name: 'scores', type: 'number', list: true },
  { name: 'seen', type: 'datetime', list: true },
  { name: 'people', type: 'reference', target: 'pltf_user', list: true },
  {
    name: 'address',
    type: 'object',
    fields: [
      { name: 'city', type: 'text' },
      { name: 'pin', type: 'number' },
      { name: 'tags', type: 'text', list: true },
      { name: 'owner', type: 'reference', target: 'pltf_user' },
    ],
  },
  {
    name: 'lines',
    type: 'object',
    list: true,
    fields: [
      { name: 'head', type: 'text' },
      { name: 'amount', type: 'number' },
      { name: 'when', type: 'datetime' },
      { name: 'marks', type: 'number', list: true },
      { name: 'payer', type: 'reference', target: 'pltf_user' },
      { name: 'parts', type: 'object', list: true, fields: [{ name: 'name', type: 'text' }] },
    ],
  },
  { name: 'blob', type: 'object' },
];

export const SAMPLE: Collection = parseCollection(
  { name: 'sample', title: 'Sample', fields: FIELDS },
  { source: 'test', isDeclared: false, version: 1 },
);

/** The same records with nothing declared. */
export const UNDECLARED: Collection = parseCollection(
  { name: 'loose', title: 'Loose' },
  { source: 'test', isDeclared: false, version: 1 },
);
