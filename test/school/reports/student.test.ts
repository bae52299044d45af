import { describe, expect, it } from '@jest/globals';
import { student } from '../../../src/school/reports/student.js';
import {
  ACCOUNTANT,
  ADMIN,
  type Caller,
  CLERK,
  FARIDA,
  KAVITA,
  useTwelveStudents,
  VIEWER,
} from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const of = async (sequence: string, caller: Caller) =>
  (await school.run(student, { sequence }, caller)).rows[0];

describe('student information refuses', () => {
  it('no admission number: 400; an unknown one: 404; a viewer: 403', async () => {
    await expect(school.run(student, {}, CLERK)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/sequence is required/),
    });
    await expect(of('A-999', CLERK)).rejects.toMatchObject({ status: 404 });
    await expect(of('A-101', VIEWER)).rejects.toMatchObject({ status: 403 });
  });

  it('a teacher who does not teach the section, as if the student were not there', async () => {
    await expect(of('A-101', FARIDA)).rejects.toMatchObject({ status: 404 });
  });
});

describe('student information', () => {
  it('tells an admin everything', async () => {
    expect(await of('A-101', ADMIN)).toMatchObject({
      studentId: 'stu-01',
      admissionNo: 'A-101',
      name: 'Aarav Sharma',
      class: '5',
      section: 'A',
      rollNo: 1,
      gender: 'male',
      dob: '2015-09-14',
      fatherName: 'Rajesh Sharma',
      motherName: 'Sunita Sharma',
      guardianPhone: '+919800000001',
      address: '14, Gandhi Road, Nagpur',
      category: 'General',
      session: '2026-27',
      admittedOn: '2022-04-01',
      leftOn: null,
      status: 'active',
      route: 'R3 Civil Lines',
      classTeacherId: 'usr-kavita',
      classTeacher: 'Kavita Joshi',
      siblings: [
        { studentId: 'stu-07', admissionNo: 'A-107', name: 'Gauri Sharma', class: '1', section: 'A' },
      ],
      attendance: { present: 41, absent: 4, late: 1, halfDay: 0, leave: 0, lastMarkedOn: '2027-01-20' },
      fees: { due: 4000, concession: 0, paid: 2000, balance: 2000, credit: 0 },
      leave: [{ id: 'leave-1', from: '2026-10-30', to: '2026-11-02', leaveType: 'sick', status: 'approved' }],
    });
  });

  it('tells each role what the collections behind it do', async () => {
    expect(await of('A-101', KAVITA)).toMatchObject({
      dob: '2015-09-14',
      address: null,
      category: null,
      fees: null,
      leave: [],
      siblings: [],
      attendance: { present: 41 },
    });
    expect(await of('A-101', ACCOUNTANT)).toMatchObject({
      dob: null,
      category: null,
      attendance: null,
      results: [],
      leave: [],
      fees: { balance: 2000 },
    });
    expect(await of('A-101', CLERK)).toMatchObject({
      fees: null,
      results: [],
      category: 'General',
      leave: [{ id: 'leave-1' }],
    });
  });

  it('counts the fees as the defaulters do, and warns of what it leaves out', async () => {
    const { rows, warnings } = await school.run(student, { sequence: 'A-103' }, ACCOUNTANT);
    // Four months of 1,000 less 100, two paid at 1,000.
    expect(rows[0]?.fees).toEqual({ due: 4000, concession: 400, paid: 2000, balance: 1800, credit: 200 });
    expect(warnings).toEqual([]);
    expect((await school.run(student, { sequence: 'A-111' }, ACCOUNTANT)).warnings).toEqual([
      { collection: 'fee_due', reason: 'amount is not a number', count: 1, ids: ['due-11-2026-11-Tuition'] },
    ]);
  });

  it('is reviewed as statement and answer', async () => {
    expect(await school.review(student, { admission_no: 'A-112' })).toMatchSnapshot();
  });
});
