import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { UNUSED_SERVICES } from '../../../../src/gateway/graphql/print-schema.js';
import { buildGatewaySchema } from '../../../../src/gateway/graphql/schema.js';
import { isTransactionalField } from '../../../../src/gateway/resolvers/records/transactional.js';
import { parseCollection } from '../../../../src/store/catalog/parse-collection.js';

const FIELDS = [
  { name: 'number', type: 'text', unique: true },
  { name: 'amount', type: 'number' },
  { name: 'tags', type: 'text', list: true },
  { name: 'day', type: 'datetime' },
  { name: 'place', type: 'object', fields: [{ name: 'visits', type: 'number' }] },
];

function schemaOf(definition: object) {
  const collection = parseCollection(definition, { source: 'test', isDeclared: true, version: 1 });
  return buildGatewaySchema({
    collections: [collection],
    reports: [],
    ...UNUSED_SERVICES,
  }).schema;
}

describe('the mutations that can be part of a transaction', () => {
  it('are those of records and receipts', () => {
    const fields = Object.values(
      schemaOf({ name: 'task', fields: FIELDS }).getMutationType()?.getFields() ?? {},
    );
    const transactional = fields.filter(isTransactionalField);
    expect(transactional.map(({ name }) => name).sort()).toEqual([
      'createRecord',
      'createRecords',
      'createTask',
      'createTasks',
      'deleteRecord',
      'deleteRecords',
      'deleteTask',
      'deleteTasks',
      'promoteStudents',
      'raiseDues',
      'recordReceipt',
      'restoreRecord',
      'rollBackReceipt',
      'undoChange',
      'updateRecord',
      'updateRecords',
      'updateTask',
      'updateTasks',
      'upsertRecords',
      'upsertTask',
      'upsertTasks',
    ]);
  });
});

describe('the mutations of many records', () => {
  it('take what the fields are, objects by their members, and keys by what is unique', () => {
    const schema = schemaOf({ name: 'task', fields: FIELDS });
    const membersOf = (name: string) => {
      const type = schema.getType(name);
      return type && 'getFields' in type
        ? Object.entries(type.getFields()).map(([key, one]) => `${key}: ${one.type}`)
        : [];
    };
    expect(membersOf('TaskNumbersInput')).toEqual(['amount: Float', 'place: TaskPlaceNumbersInput']);
    expect(membersOf('TaskPlaceNumbersInput')).toEqual(['visits: Float']);
    expect(membersOf('TaskBoundsInput')).toEqual([
      'amount: Float',
      'day: DateTime',
      'place: TaskPlaceBoundsInput',
    ]);
    expect(membersOf('TaskListsInput')).toEqual(['tags: [String!]']);
    const keys = schema.getType('TaskKey');
    expect(keys && 'getValues' in keys && keys.getValues().map(({ name, value }) => [name, value])).toEqual([
      ['ID', '_id'],
      ['NUMBER', 'number'],
    ]);
  });
});
