import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCollections } from '../../../src/gateway/graphql/print-schema.js';
import { readSheets } from '../../../src/school/sheets/read-sheets.js';

const collections = await readCollections('schema/collections');
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sheets-'));
  await cp('schema/sheets', folder, { recursive: true });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Declares the roll-call with changes as a sheet of the school, and reads all sheets. */
async function readWith(changes: Readonly<Record<string, unknown>>) {
  const sheet = JSON.parse(await readFile('schema/sheets/attendance.json', 'utf8'));
  await writeFile(path.join(folder, 'own.json'), JSON.stringify({ ...sheet, name: 'own', ...changes }));
  return await readSheets(folder, collections);
}

describe('readSheets', () => {
  it('reads the sheets of the school beside those that come with the gateway', async () => {
    const sheets = await readWith({
      title: 'Roll-call of the bus',
      members: { collection: 'registration', by: ['route'] },
    });
    expect(sheets.map(({ definition }) => definition.name)).toEqual(['attendance', 'marks', 'own']);
  });

  it.each([
    [{ collection: 'attendence' }, '/collection: there is no collection "attendence"'],
    [{ colour: 'red' }, 'unknown key "colour"'],
    [{ name: 'marks' }, '/name: "marks" is the name of another sheet'],
    [{ key: 'class' }, '/key: "class" is neither a unique field nor a rule'],
    [{ member: 'marked_by' }, '/member: "marked_by" is no reference to registration'],
    [{ copy: { class: 'klass' } }, '/copy/class: registration has no field "klass"'],
    [
      { cells: [{ field: 'status', values: [{ value: 'gone', key: 'g' }] }] },
      '"gone" is no value of "status"',
    ],
    [{ cells: [{ field: 'mark' }] }, '/cells/0/field: attendance has no field "mark"'],
  ])('refuses %j with the file, the place and the fault', async (changes, fault) => {
    await expect(readWith(changes)).rejects.toThrow(fault);
    await expect(readWith(changes)).rejects.toThrow('schema/sheets/own.json');
  });
});
