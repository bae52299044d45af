/** The generic types: a record of any collection, and pages of records. */

import {
  enumType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { Node } from './node.js';

export const GenericRecord = objectType(
  'Record',
  'A record of any collection: its fields as JSON, and its id, version and times.',
  {
    id: member.id('Identifies the record within its collection. Stored as `_id`.'),
    collection: member.text('The collection it is in, e.g. "attendance".'),
    version: member.whole(
      'Starts at 1 and increases by one with every change. Send it as `ifVersion` to avoid ' +
        'overwriting a change made in the meantime.',
    ),
    createdAt: member.instant('When it was first stored.'),
    updatedAt: member.instant('When it was last changed.'),
    data: member.anyJson(
      'The fields by their stored names, as far as you may read them; with `project`, only those.',
    ),
  },
  { implements: Node },
);
export type GenericRecord = ValueOf<typeof GenericRecord> & Node;

export const PageInfo = objectType('PageInfo', 'The position of a page in the whole order.', {
  hasNextPage: member.flag('More records come after this page.'),
  hasPreviousPage: member.flag('There are records before this page.'),
  startCursor: nullable.text('Cursor of the first record; null for an empty page.'),
  endCursor: nullable.text(
    'Cursor of the last record; send it as `after` for the next page. Null for an empty page.',
  ),
});
export type PageInfo = ValueOf<typeof PageInfo>;

const RecordEdge = objectType('RecordEdge', 'A record in a page, with its cursor.', {
  node: member.of(GenericRecord, 'The record.'),
  cursor: member.text('The place of the record in the order, for `after` and `before`.'),
});

export const RecordConnection = objectType('RecordConnection', 'A page of records.', {
  nodes: member.list(GenericRecord, 'The records of the page, in order.'),
  edges: member.list(RecordEdge, 'The records of the page with a cursor each.'),
  pageInfo: member.of(PageInfo, 'The position of the page in the order.'),
  totalCount: member.whole(
    'How many records match in all, on every page. Counted only when selected; costs a pass over ' +
      'what matches.',
  ),
});

export const SortDirection = enumType('SortDirection', 'The direction of an order.', {
  ascending: 'Smallest, earliest, A first.',
  descending: 'Largest, latest, Z first.',
});
export type SortDirection = ValueOf<typeof SortDirection>;

export const OrderByInput = inputType(
  'OrderByInput',
  'One key of an order by stored field names. Ties are broken by the id.',
  {
    field: member.text('A field path by stored names, e.g. "created_on" or "student.label".'),
    direction: member.of(SortDirection, 'Ascending if left out.', { defaultValue: SortDirection.ASCENDING }),
  },
);
export type OrderByInput = ValueOf<typeof OrderByInput>;

export const UpdateMode = enumType('UpdateMode', 'What an update does with the fields that are not sent.', {
  merge: 'They keep their values.',
  replace: 'They are removed.',
});
export type UpdateMode = ValueOf<typeof UpdateMode>;
