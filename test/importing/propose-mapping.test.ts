import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { proposeMapping } from '../../src/importing/propose-mapping.js';
import { inspectSource } from '../../src/importing/reading/inspect-source.js';
import { openRowSource } from '../../src/importing/reading/open-row-source.js';
import { parseCollection } from '../../src/store/catalog/collection-definition.js';
import { withFile } from './reading/source-fixture.js';

const students = parseCollection(JSON.parse(readFileSync('schema/collections/registration.json', 'utf8')), {
  source: 'registration.json',
  isDeclared: true,
  version: 1,
});

async function proposed(...lines: readonly string[]) {
  return await withFile(`${lines.join('\n')}\n`, async (path) => {
    const { columns } = await inspectSource(await openRowSource({ path }));
    return proposeMapping(
      students,
      columns.map(({ column }) => column),
      columns,
    ).columns;
  });
}

describe('the mapping that is proposed for a list of students', () => {
  it.each([
    ['name', 'name'],
    ['Student Name', 'name'],
    ['Admission Number', 'sequence'],
    ["Father's name", 'father_name'],
    ['Phone', 'guardian_phone'],
    ['Date of birth', 'dob'],
    ['Email', 'email'],
    // Two fields have the word, and none is it alone.
    ['Parent names', null],
    ['Student', null],
    ['Blood group', null],
    ['error', null],
  ])('gives the column %s to the field %s', async (column, field) => {
    expect(await proposed(`${column},zzz`, 'a,b')).toMatchObject([{ column, field }, { field: null }]);
  });

  it('gives a field to one column, the nearest', async () => {
    const columns = await proposed('Student Name,name', 'a,b');
    expect(columns.map(({ field }) => field)).toEqual([null, 'name']);
  });

  it('knows allowed values in capitals and by their first letter', async () => {
    expect(await proposed('Gender,Status', 'Male,A', 'FEMALE,active', 'Femal,Withdrawn')).toMatchObject([
      { field: 'gender', values: { Male: 'male', FEMALE: 'female' } },
      { field: 'status', values: { A: 'active', Withdrawn: 'withdrawn' } },
    ]);
  });
});
