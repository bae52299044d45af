/** The fields for the records of any collection, whose fields are JSON. */
import type { JsonObject, JsonValue } from '../../../base/json/json.js';
import { OQUERY_SYNTAX } from '../../../base/languages/oquery.js';
import { member, nullable } from '../../../base/scalars/declared-type.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { CI_ARGUMENT } from '../../resolvers/page-arguments.js';
import { genericForm } from '../../resolvers/records/generic-form.js';
import { GenericRecord, OrderByInput, RecordConnection } from '../../resolvers/records/generic-record.js';
import { perField, toObject } from '../../resolvers/records/record-resolver.js';
import { TRANSACTIONAL_FIELD } from '../../resolvers/records/transactional.js';
import { UPDATE_ARGUMENTS } from '../../resolvers/records/update-arguments.js';
import { createResolverClass, type FieldCall, type RunTimeField } from '../../resolvers/run-time-types.js';
import { ChangeOperation, createChangeType } from '../live/change-shape.js';
import {
  createBatchType,
  createRecordFields,
  neededByFields,
  type RecordApi,
  type RecordServices,
} from './record-fields.js';

const COLLECTION = { collection: member.text('The collection, e.g. "task".') };
const ORDER = { orderBy: nullable.list(OrderByInput, 'The order; by id if left out.') };
const DATA = { type: [GraphqlJsonScalar], description: 'The fields of each record by their stored names.' };

const GENERIC: Omit<RecordApi, 'types'> = {
  names: { one: 'record', many: 'records', One: 'Record', Many: 'Records', noun: 'record' },
  texts: {
    one: 'One record of any collection by its id. Errors: NOT_FOUND, GONE when it was removed.',
    many:
      'Records of any collection. A declared collection has a field of its own with real types, e.g. ' +
      '`tasks`.',
    create: 'Stores a record. The header `Idempotency-Key` makes a repeated request give the first answer.',
    createMany: 'Stores several records, all or none.',
    update: 'Changes a record. Errors: NOT_FOUND, GONE, VERSION_CONFLICT when it is no longer `ifVersion`.',
    delete:
      'Removes a record and returns its last state. Reading it by its id then fails with ' +
      'GONE, and lists skip it. Errors: CONFLICT with the number of records that point to it.',
    updateMany:
      'Changes all records that match, in one transaction: all or none. Numbers are counted exactly.',
    deleteMany:
      'Removes all records that match, in one transaction. Reading them by their ids then ' +
      'fails with GONE, and lists skip them. Errors: CONFLICT with the number of records that point to them.',
    upsertMany:
      'Stores records by a key, in one transaction. If a record with the key exists, the ' +
      'fields sent are changed. Otherwise a record is created.',
    upsert: '',
    changed:
      'Changes of the records of any collection, after their commit. A declared collection has a ' +
      'field of its own with real types, e.g. `taskChanged`. Records are read under your own rights ' +
      'when they are sent; what you may not see is not sent.',
  },
  arguments: {
    collection: COLLECTION,
    project: { project: nullable.texts('The fields to read into `data`. Left out: all.') },
    many: {
      collection: member.text('The collection, e.g. "attendance".'),
      oquery: nullable.text(
        `A filter as in the REST interface: ${OQUERY_SYNTAX} E.g. "created_on=today,amount=>100".`,
      ),
      ci: CI_ARGUMENT,
      where: nullable.json(
        'A structured filter by stored field names, e.g. {amount: {greaterThan: 100}, or: [{name: ' +
          '{startsWith: "A"}}, {name: {isNull: true}}]}. Holds together with `oquery`.',
      ),
      project: nullable.texts(
        'The fields to read into `data`, e.g. ["name", "student.label"]. Left out: all.',
      ),
      ...ORDER,
    },
    matching: {
      ...COLLECTION,
      where: nullable.json('Which records: a structured filter by stored field names, as for `records`.'),
      oquery: nullable.text('Which records: a filter as in the REST interface.'),
      ci: CI_ARGUMENT,
      orderBy: nullable.list(OrderByInput, 'The order in which records are selected; by id if left out.'),
      limit: nullable.whole(
        'The most records to change, the first in the order. Left out: all, rejected if there are too many.',
      ),
      allowAll: nullable.flag('Selects every record of the collection. Without it, a condition is required.'),
    },
    changed: {
      collection: member.text('The collection, e.g. "attendance".'),
      oquery: nullable.text(
        'Only records that satisfy this filter as they are after the change; a removed one, as it was ' +
          'at last. As in the REST interface.',
      ),
      ci: CI_ARGUMENT,
      where: nullable.json('A structured filter by stored field names. Holds together with `oquery`.'),
      operations: nullable.list(ChangeOperation, 'Only these; all if left out.'),
    },
    create: member.json('The fields by their stored names; `_id` to choose the id.'),
    update: member.json('The fields to change, by their stored names.'),
    changes: UPDATE_ARGUMENTS,
    upsert: {},
    upsertMany: {
      ...COLLECTION,
      data: DATA,
      by: member.text(
        'The key of the records: `_id`, a unique field, or a rule of fields that are unique together.',
        { defaultValue: '_id' },
      ),
    },
  },
  collection: undefined,
  formOf: genericForm,
  toStored: toObject,
  toChanges: (changes) => changes,
};

/** The classes of the fields of records, and of those that write many. */
export function createGenericResolvers(services: RecordServices) {
  const batch = createBatchType('Record', 'records');
  const change = createChangeType('RecordChange', 'A change of a record, committed.', GenericRecord);
  const types = { record: GenericRecord, connection: RecordConnection, batch, change };
  const fields = createRecordFields({ ...GENERIC, types }, services);
  const createMany: RunTimeField = {
    ...fields.createMany,
    type: [GenericRecord],
    arguments: { ...COLLECTION, data: DATA },
    extensions: TRANSACTIONAL_FIELD,
    async run(args: { readonly collection: string; readonly data: readonly JsonValue[] }, call: FieldCall) {
      const { collection, data } = args;
      const records = data.map((one, index): JsonObject => toObject(one, `data.${index}`));
      const sent = { collection, records, shown: records.length };
      const stored = await services.records.createRecords(perField(call.context, call.info), sent);
      return stored.records.map((record) => genericForm(collection).toNode(record));
    },
  };
  const { many, one, create, update, updateMany, deleteMany, upsertMany, shown, changed } = fields;
  return {
    records: createResolverClass([many, one, create, createMany, update, fields.delete]),
    bulk: [createResolverClass([updateMany, deleteMany, upsertMany]), createResolverClass([shown], batch)],
    changes: createResolverClass([changed]),
    needed: neededByFields(fields),
  };
}
