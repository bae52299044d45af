import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Collection, Field } from '../../../src/base/model/collection.js';
import { readCollections } from './declarations.js';

const REPORTS_NEED = [
  'task',
  'registration',
  'pltf_user',
  'class',
  'attendance',
  'teacher_attendance',
  'leave_request',
  'holiday',
  'fee_head',
  'fee_due',
  'fee_plan',
  'fee_concession',
  'fee_receipt',
  'sms_log',
  'result',
];
/** Those that people put together for themselves, of what the others hold. */
const OF_THE_PORTAL = ['dashboard', 'saved_view'];

let collections: ReadonlyMap<string, Collection>;
beforeAll(async () => {
  collections = await readCollections();
});

function collection(name: string): Collection {
  const found = collections.get(name);
  if (!found) throw new Error(`${name} is not declared`);
  return found;
}

function field(collectionName: string, name: string): Field {
  const found = collection(collectionName).fieldsByName.get(name);
  if (!found) throw new Error(`${collectionName}.${name} is not declared`);
  return found;
}

function hidden(collectionName: string, role: string): readonly string[] {
  return [...(collection(collectionName).access.get(role)?.hiddenFields ?? [])].sort();
}

function verbs(collectionName: string, role: string): readonly string[] {
  return [...(collection(collectionName).access.get(role)?.verbs ?? [])].sort();
}

describe('the declared collections', () => {
  it('are those of the reports and of the portal', () => {
    expect([...collections.keys()].sort()).toEqual([...REPORTS_NEED, ...OF_THE_PORTAL].sort());
  });

  it.each([...REPORTS_NEED, ...OF_THE_PORTAL])('%s describes itself and every field', (name) => {
    expect(collection(name).description).not.toBe('');
    const undescribed = allFields(collection(name).fields).filter(
      ({ description }) => description.length < 10,
    );
    expect(undescribed.map((one) => one.name)).toEqual([]);
  });

  it('point only to each other', () => {
    const targets = [...collections.values()].flatMap(({ fields }) =>
      allFields(fields).flatMap((one) => one.targets),
    );
    expect(targets.filter((target) => !collections.has(target))).toEqual([]);
  });

  it('hold money exactly and say its currency', () => {
    const money = [field('fee_due', 'amount'), field('fee_receipt', 'total'), ...linesOf('fee_receipt')];
    for (const one of money) expect([one.name, one.isDecimal, one.unit]).toEqual([one.name, true, 'INR']);
  });

  it.each([
    ['fee_concession', 'name'],
    ['leave_request', 'created_on'],
    ['attendance', 'created'],
    ['registration', 'sequence'],
    ['pltf_user', 'active'],
    ['teacher_attendance', 'created_on'],
    ['teacher_attendance', 'name'],
    ['result', 'session'],
    ['result', 'term'],
    ['result', 'admission_no'],
    ['fee_due', 'due_date'],
    ['fee_receipt', 'date'],
    ['fee_receipt', 'rolled_back_on'],
    ['sms_log', 'created_on'],
  ])('serve the documented filter on %s.%s by an index', (name, fieldName) => {
    const one = field(name, fieldName);
    expect(one.isIndexed || one.isUnique).toBe(true);
  });

  it('count one mark a student a day', () => {
    expect(collection('attendance').uniqueTogether).toEqual([
      {
        name: 'student_day',
        parts: [
          { path: ['student', 'value'], by: 'value' },
          { path: ['created'], by: 'day' },
        ],
        unless: [],
      },
    ]);
  });
});

describe('access to the declared collections', () => {
  it('lets nobody edit or delete a receipt but the mutations of receipts', () => {
    for (const role of ['admin', 'accountant']) expect(verbs('fee_receipt', role)).toEqual(['read']);
    for (const role of ['teacher', 'clerk', 'viewer']) expect(verbs('fee_receipt', role)).toEqual([]);
    expect(verbs('fee_receipt', 'system')).toEqual(['create', 'read', 'update']);
  });

  it('keeps what is private of a student from a viewer', () => {
    expect(hidden('registration', 'viewer')).toEqual(
      expect.arrayContaining(['address', 'category', 'dob', 'email', 'guardian_phone']),
    );
    for (const name of ['fee_due', 'fee_receipt', 'fee_concession', 'result', 'sms_log', 'leave_request']) {
      expect(verbs(name, 'viewer')).toEqual([]);
    }
  });

  it.each(['registration', 'attendance', 'result'])('shows a teacher %s of the sections taught', (name) => {
    expect(collection(name).access.get('teacher')?.rows).toEqual({
      fields: [['class'], ['section']],
      attribute: 'sectionsTaught',
    });
    expect(collection('class').grants).toEqual([
      {
        attribute: 'sectionsTaught',
        list: 'sections',
        caller: 'class_teacher',
        key: [['name'], ['sections', 'name']],
      },
    ]);
  });

  it.each(['teacher_attendance', 'leave_request'])('shows a teacher only the own %s', (name) => {
    expect(collection(name).access.get('teacher')?.rows).toEqual({
      fields: [['name', 'value']],
      attribute: 'self',
    });
  });

  it('lets only admins change staff and classes', () => {
    for (const name of ['pltf_user', 'class']) {
      for (const role of ['accountant', 'teacher', 'clerk', 'viewer']) {
        expect([name, role, verbs(name, role)]).toEqual([name, role, ['read']]);
      }
    }
  });
});

function allFields(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((one) => [one, ...allFields(one.fields)]);
}

function linesOf(name: string): readonly Field[] {
  return field(name, 'lines').fields.filter(({ type }) => type === 'number');
}
