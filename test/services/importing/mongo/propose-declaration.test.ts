import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../src/base/json/json.js';
import {
  DocumentSurvey,
  type ProposedDeclaration,
  proposeDeclaration,
  toCollectionName,
} from '../../../../src/services/importing/mongo/propose-declaration.js';
import { parseDefinition } from '../../../../src/store/catalog/parse-collection.js';
import { readSource } from '../reading/source-fixture.js';

async function proposed(documents: readonly object[], metadata?: JsonObject): Promise<ProposedDeclaration> {
  const json = documents.map((document) => JSON.stringify(document)).join('\n');
  const { rows } = await readSource(`${json}\n`, 'x.json', { format: 'ejson' });
  const survey = new DocumentSurvey();
  for (const row of rows) survey.add(row);
  return proposeDeclaration({
    ...{ name: 'students', metadata, survey, collections: ['classes', 'students', 'staff'] },
  });
}

const DOCUMENTS = [
  {
    _id: 1,
    admission: 'A1',
    class: 5,
    fee: { $numberDecimal: '120.50' },
    active: true,
    joined: { $date: '2026-03-31T04:00:00Z' },
    dob: '2012-04-01',
    address: { city: 'Pune', pin: '411001' },
    marks: [1, 2],
    mixed: 1,
    version: 3,
    'first name': 'Asha',
  },
  {
    _id: 2,
    admission: 'A2',
    class: 6,
    fee: 100,
    active: false,
    joined: { $date: '2026-04-01T04:00:00Z' },
    dob: '2012-05-01',
    address: { city: 'Goa' },
    marks: [3],
    mixed: { a: 1 },
    version: 3,
    'first name': 'Ravi',
  },
];

const INDEXES = {
  indexes: [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { admission: 1 }, name: 'admission_1', unique: true, sparse: true },
    { v: 2, key: { class: { $numberInt: '-1' } }, name: 'class_-1' },
    { v: 2, key: { class: 1, joined: -1 }, name: 'class_joined' },
    { v: 2, key: { class: 1, admission: 1 }, name: 'class_admission', unique: true },
    { v: 2, key: { address: '2dsphere' }, name: 'place' },
    { v: 2, key: { joined: 1 }, name: 'ttl', expireAfterSeconds: 60 },
    { v: 2, key: { 'address.city': 1 }, name: 'city' },
  ],
};

describe('the declaration that a collection of MongoDB suggests', () => {
  it('has its fields, indexes and unique values, and tells what it leaves out', async () => {
    const { declaration, notes } = await proposed(DOCUMENTS, INDEXES);
    expect(declaration).toEqual({
      name: 'students',
      fields: [
        { name: 'admission', type: 'text', unique: true },
        { name: 'class', type: 'number', index: true },
        { name: 'fee', type: 'number' },
        { name: 'active', type: 'boolean' },
        { name: 'joined', type: 'datetime' },
        { name: 'dob', type: 'datetime', format: 'date' },
        { name: 'address', type: 'object' },
        { name: 'marks', type: 'number', list: true },
      ],
      indexes: [['class', 'joined']],
      uniqueTogether: [{ name: 'class_admission', parts: [{ path: 'class' }, { path: 'admission' }] }],
    });
    expect(notes).toEqual([
      'mixed holds values of several kinds, and is not declared',
      'version is a name of every record here, and is not declared',
      'first name has a name that no declaration takes',
      'the index place is not proposed: it is of the kind "2dsphere"',
      'the index ttl is not proposed: it has expireAfterSeconds',
      'the index city is not proposed: address.city is no declared field of one value',
    ]);
  });

  it('takes for a text what is one, whatever it could be read as', async () => {
    const { declaration } = await proposed([
      { _id: 1, active: 'Y', pages: '12', height: 3 },
      { _id: 2, active: 'N', pages: '14', height: 4 },
    ]);
    expect(declaration.fields).toEqual([
      { name: 'active', type: 'text' },
      { name: 'pages', type: 'text' },
      { name: 'height', type: 'number' },
    ]);
  });

  it('declares no field that has values of several kinds', async () => {
    const { declaration, notes } = await proposed([
      { _id: 1, rating: 5, open: true, since: { $date: '2026-03-31T04:00:00Z' }, note: null, flag: 1 },
      { _id: 2, rating: 'Not yet rated', open: 'seldom', since: 'long ago', note: 'Good', flag: true },
      ...Array.from({ length: 20 }, (_, index) => ({ _id: 3 + index, rating: 4.5, open: false })),
    ]);
    expect(declaration.fields).toEqual([
      { name: 'since', type: 'text' },
      { name: 'note', type: 'text' },
    ]);
    expect(notes).toEqual([
      'rating holds values of several kinds, and is not declared',
      'open holds values of several kinds, and is not declared',
      'flag holds values of several kinds, and is not declared',
    ]);
  });

  it('takes for a list what is one in all documents, with elements of one kind', async () => {
    const { declaration, notes } = await proposed(
      [
        {
          ...{
            _id: 1,
            tags: ['a', '12'],
            days: [{ $date: '2026-03-31T04:00:00Z' }],
            lines: [{ head: 'Bus' }],
          },
          ...{ flags: [true], mixed: [1, 'a'], deep: [[1]], gaps: ['a', null], one: ['a'], none: [] },
        },
        { _id: 2, tags: [], days: [], lines: [{ head: 'Lab' }], flags: [false], one: 'a', none: [] },
      ],
      { indexes: [{ key: { tags: 1 }, name: 'tags_1' }] },
    );
    expect(declaration.fields).toEqual([
      { name: 'tags', type: 'text', list: true },
      { name: 'days', type: 'datetime', list: true },
      { name: 'lines', type: 'object', list: true },
      { name: 'flags', type: 'boolean', list: true },
    ]);
    expect(notes).toEqual([
      'mixed holds values of several kinds, and is not declared',
      'deep holds values of several kinds, and is not declared',
      'gaps holds values of several kinds, and is not declared',
      'one holds values of several kinds, and is not declared',
      'none holds no list with an element, and is not declared',
      'the index tags_1 is not proposed: tags is no declared field of one value',
    ]);
    expect(parseDefinition(declaration, 'the proposal')).toMatchObject({ name: 'students' });
  });

  it('points with {value, label} at the collection that the field is called after', async () => {
    const { declaration, notes } = await proposed(
      [
        {
          _id: 1,
          student: { value: 7, label: 'Asha' },
          class: { value: 'c5', label: 'Class 5' },
          house: { value: 'h1', label: 'Red' },
          staff: { value: 's1', label: 'Mira', since: 2020 },
        },
        { _id: 2, student: { value: 8, label: 'Ravi' }, staff: { value: 's2', label: 'Tara' } },
      ],
      {
        indexes: [
          { key: { 'student.value': 1 }, name: 'student' },
          { key: { 'student.value': 1, 'class.value': 1 }, name: 'both', unique: true },
        ],
      },
    );
    expect(declaration).toEqual({
      name: 'students',
      fields: [
        { name: 'student', type: 'reference', target: 'students', mustExist: false, index: true },
        { name: 'class', type: 'reference', target: 'classes', mustExist: false },
        { name: 'house', type: 'object' },
        { name: 'staff', type: 'object' },
      ],
      uniqueTogether: [
        {
          name: 'student_value_class_value',
          parts: [{ path: 'student.value' }, { path: 'class.value' }],
        },
      ],
    });
    expect(notes).toEqual(['house looks like a reference, but no collection is called so']);
    expect(parseDefinition(declaration, 'the proposal')).toMatchObject({ name: 'students' });
  });

  it('is one that can be registered', async () => {
    const { declaration } = await proposed(DOCUMENTS, INDEXES);
    expect(parseDefinition(declaration, 'the proposal')).toMatchObject({ name: 'students' });
  });
});

it.each([
  ['students', 'students'],
  ['FeeReceipts', 'fee_receipts'],
  ['exams.marks', 'exams_marks'],
  ['2026', 'c_2026'],
  ['taken', 'taken_2'],
  ['x'.repeat(60), 'x'.repeat(40)],
  ['…', 'c'],
])('the collection %s is called %s', (name, expected) => {
  expect(toCollectionName(name, new Set(['taken']))).toBe(expected);
});

it('counts what became of values, with the first ids', async () => {
  const lines = Array.from({ length: 7 }, (_, _id) => `{"_id":${_id},"r":{"$regex":"a","$options":""}}\n`);
  const { rows } = await readSource(`${lines.join('')}{\n`, 'x.json', { format: 'ejson' });
  const survey = new DocumentSurvey();
  for (const row of rows) survey.add(row);
  expect(survey.report).toEqual({
    documents: 8,
    alterations: [
      {
        path: 'r',
        was: 'a regular expression',
        became: 'its text',
        count: 7,
        firstIds: ['0', '1', '2', '3', '4'],
      },
    ],
    unlistedAlterations: 0,
    faults: { count: 1, samples: [{ number: 8, fault: expect.stringContaining('this is no JSON') }] },
  });
});
