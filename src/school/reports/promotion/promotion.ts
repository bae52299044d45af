/** The input and result types of a promotion in GraphQL. */

import {
  enumType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';

export const RollNumbers = enumType('PromotionRollNumbers', 'The roll numbers of promoted students.', {
  alphabetical: 'By name, after the greatest number of the section in the new session.',
  keep: 'As they were.',
  none: 'Removed.',
});
export type RollNumbers = ValueOf<typeof RollNumbers>;

export const PromotionOutcome = enumType('PromotionOutcome', 'The outcome of a promotion for a student.', {
  promoted: 'The student moves to another class.',
  stayed: 'The student stays in the class for another session.',
  left: 'The student leaves the school.',
});
export type PromotionOutcome = ValueOf<typeof PromotionOutcome>;

/** The target of students: `toClass`, or `leaves`. */
const TARGET = {
  toClass: nullable.text('The class in the new session.'),
  toSection: nullable.text('The section. Default: the section of the student.'),
  leaves: nullable.flag('They have completed the school. Default: false.'),
};

export const PromotedClassInput = inputType(
  'PromotedClassInput',
  'A class, or one section of it, and where its students go.',
  {
    ...TARGET,
    class: member.text('The class they are in.'),
    section: nullable.text('One section. Default: every section without an entry of its own.'),
  },
);
export type PromotedClassInput = ValueOf<typeof PromotedClassInput>;

export const PromotionExceptionInput = inputType(
  'PromotionExceptionInput',
  'A student who does not go where the class goes.',
  {
    ...TARGET,
    studentId: member.id('`_id` of the student.'),
  },
);
export type PromotionExceptionInput = ValueOf<typeof PromotionExceptionInput>;

export const PromoteStudentsInput = inputType(
  'PromoteStudentsInput',
  'The classes to promote from a session to the next.',
  {
    fromSession: member.text('The session they are in, YYYY-YY.'),
    toSession: nullable.text('A later session. Default: the next one.'),
    classes: member.list(PromotedClassInput, 'The classes, and where each goes.'),
    exceptions: nullable.list(
      PromotionExceptionInput,
      'Students of these classes who go elsewhere. One who stays names the present class.',
    ),
    rollNumbers: nullable.of(RollNumbers, 'New roll numbers. Default: ALPHABETICAL.'),
    leftOn: nullable.day('The last day of students who leave. Default: the last day of `fromSession`.'),
    dryRun: nullable.flag('Change nothing, and return what would be done.'),
  },
);
export type PromoteStudentsInput = ValueOf<typeof PromoteStudentsInput>;

export const PromotedStudent = objectType(
  'PromotedStudent',
  'A student of a promotion: the place before and after.',
  {
    studentId: member.id('`_id` of the student.'),
    admissionNo: member.text('Admission number.'),
    name: member.text('Name.'),
    outcome: member.of(PromotionOutcome, 'What is done.'),
    fromClass: member.text('The class before.'),
    fromSection: member.text('The section before.'),
    fromRollNo: nullable.whole('The roll number before.'),
    toClass: nullable.text('The class after; null for one who leaves.'),
    toSection: nullable.text('The section after.'),
    toRollNo: nullable.whole('The roll number after.'),
  },
);
type Shown = ValueOf<typeof PromotedStudent>;
export type PromotedStudent = { readonly [Name in keyof Shown]-?: Exclude<Shown[Name], undefined> };

export const Promotion = objectType('Promotion', 'A promotion, done or as it would be done.', {
  requestId: member.text('For `undoChange`, which takes all of it back.'),
  dryRun: member.flag('Whether nothing was changed.'),
  fromSession: member.text('The session before.'),
  toSession: member.text('The session after.'),
  promoted: member.whole('Students who move to another class.'),
  stayed: member.whole('Students who stay in their class.'),
  left: member.whole('Students who leave.'),
  students: member.list(PromotedStudent, 'Every student, by class, section and name.'),
});
export type Promotion = ValueOf<typeof Promotion>;
