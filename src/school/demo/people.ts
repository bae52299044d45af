/** The people of a demo school: families with their children, and the staff; and their records. */

import { faker } from '@faker-js/faker/locale/en_IN';
import type { JsonValue } from '../../base/json/json.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { DEMO_USERS, type DemoOptions } from './demo-options.js';
import { type DemoRecord, demoRecord, type RecordMembers } from './demo-record.js';
import { Random } from './random.js';
import { BUS_ROUTES, type SchoolMoment, type SchoolPlan } from './school-plan.js';
import {
  clock,
  dayText,
  type EpochDay,
  epochDay,
  instantText,
  parseEpochDay,
  sessionName,
  sessionStartYear,
} from './session-calendar.js';

type Gender = 'male' | 'female' | 'other';

export type Student = ReturnType<typeof createStudents>[number];

export interface StaffMember {
  readonly id: string;
  readonly reference: ReturnType<typeof referenceTo>;
  readonly roles: readonly string[];
  readonly joinedOn: EpochDay;
  readonly leftOn: EpochDay | undefined;
  /** The members of the record. */
  readonly data: RecordMembers;
}

export type DemoSchool = ReturnType<typeof createDemoSchool>;

export function createDemoSchool(plan: SchoolPlan, { seed, years, today: day }: DemoOptions) {
  const today = parseEpochDay(day);
  const moment = { seed, today, startYear: sessionStartYear(today), years };
  return { ...moment, plan, staff: createStaff(plan, moment), students: createStudents(plan, moment) };
}

/** The last few of the staff have left. */
const LEAVERS = 3;

function createStaff(plan: SchoolPlan, moment: SchoolMoment) {
  const random = new Random(moment.seed, plan.domainId, 'staff');
  const names = namesBy(random, 'latin');
  const sections = plan.classes.flatMap((klass) => klass.sections.map(({ name }) => `${klass.name}/${name}`));
  const posts = listPosts(plan, sections.length);
  const userNames = new Set<string>();
  const members = posts.map(([roles, department, designation], index): StaffMember => {
    const gender = random.pick(['male', 'female', 'female'] as const);
    const name = NAMED_STAFF[plan.domainId]?.[index] ?? `${names.first(gender)} ${names.family()}`;
    const number = String(index + 1).padStart(3, '0');
    const user_name = DEMO_USERS[index]?.userName ?? freeUserName(name, userNames);
    const id = `usr-${DEMO_USERS[index]?.userName ?? number}`;
    const hasLeft = index >= posts.length - LEAVERS;
    const joinedYear = moment.startYear - random.integer(hasLeft ? 4 : 1, 14);
    const phone = phoneNumber(random);
    const joinedOn = epochDay(joinedYear, random.pick([4, 6, 6, 7]), random.integer(1, 20));
    const leftOn = hasLeft ? epochDay(moment.startYear - random.integer(0, 2), 3, 31) : undefined;
    return {
      ...{ id, reference: referenceTo(id, name), roles, joinedOn, leftOn },
      data: {
        ...{ user_name, name, phone, roles, department, designation },
        email: `${user_name}@${plan.mailDomain}`,
        active: !hasLeft,
        employee_code: `E${number}`,
        joined_on: dayText(joinedOn),
        left_on: leftOn && dayText(leftOn),
      },
    };
  });
  type Four = [StaffMember, StaffMember, StaffMember, StaffMember];
  const [principal, accountant, teacher, clerk] = members as [...Four, ...StaffMember[]];
  const others = members.filter(
    (member) => member.roles.includes('teacher') && member.leftOn === undefined && member !== teacher,
  );
  const demoSection = `${plan.demoTeacherOf.className}/${plan.demoTeacherOf.section}`;
  const rest = sections.filter((section) => section !== demoSection);
  const teachers = new Map(rest.map((section, index) => [section, others[index % others.length]]));
  return {
    ...{ members, principal, clerk },
    accountants: [accountant, ...members.slice(5).filter(({ roles }) => roles.includes('accountant'))],
    classTeacher: (className: string, section: string) => teachers.get(`${className}/${section}`) ?? teacher,
  };
}

type Post = readonly [roles: readonly string[], department: string, designation: string];

/** The demo users first, in their order; then the office; then teachers. */
function listPosts(plan: SchoolPlan, sectionCount: number): readonly Post[] {
  const count = Math.max(plan.staffCount, OFFICE.length + sectionCount + LEAVERS);
  return Array.from({ length: count }, (_, index): Post => {
    const department = DEPARTMENTS[index % DEPARTMENTS.length] ?? '';
    return OFFICE[index] ?? [['teacher'], department, ['PRT', 'TGT', 'PGT'][index % 3] ?? ''];
  });
}

const OFFICE: readonly Post[] = [
  [['admin'], 'Administration', 'Principal'],
  [['accountant'], 'Accounts', 'Senior accountant'],
  [['teacher'], 'Mathematics', 'TGT'],
  [['clerk'], 'Office', 'Office superintendent'],
  [['viewer'], 'Trust', 'Trustee'],
  [['teacher', 'admin'], 'English', 'Vice principal'],
  [['accountant'], 'Accounts', 'Accountant'],
  [['accountant'], 'Accounts', 'Cashier'],
  [['clerk'], 'Office', 'Clerk'],
  [['viewer'], 'Library', 'Librarian'],
  [[], 'Transport', 'Transport in-charge'],
];

const DEPARTMENTS =
  'Mathematics,English,Hindi,Science,Social Science,Sanskrit,Computer,Physical Education,Arts,Commerce'.split(
    ',',
  );

const NAMED_STAFF: Readonly<Record<string, readonly string[]>> = {
  demo: ['Dr. Lakshmi Menon', 'Meena Iyer', 'Kavita Joshi', 'Suresh Patil', 'Rajan Mehra'],
  'demo-north': ['Anita Deshpande', 'Prakash Shah', 'Sunita Reddy', 'Ramesh Naik', 'Vimala Pillai'],
};

function freeUserName(name: string, taken: Set<string>): string {
  const wish = name.toLowerCase().replaceAll(/[^a-z]+/g, '.');
  let userName = wish;
  for (let count = 2; taken.has(userName); count++) userName = `${wish}${count}`;
  taken.add(userName);
  return userName;
}

/**
 * All students of the school's sessions, by admission number: the running session's, and those who completed
 * the last class in the sessions before.
 */
function createStudents(plan: SchoolPlan, moment: SchoolMoment) {
  const random = new Random(moment.seed, plan.domainId, 'students');
  const seats = random.shuffle(listSeats(plan, moment));
  const drafts: (ReturnType<typeof createStudent> & Pick<ReturnType<typeof createFamily>, 'family'>)[] = [];
  while (drafts.length < seats.length) {
    const { family, childCount, nameOf } = createFamily(random, plan);
    for (const seat of seats.slice(drafts.length, drafts.length + childCount))
      drafts.push({ family, ...createStudent(random, nameOf, { plan, moment, seat }) });
  }
  const byFamily = groupBy(drafts, ({ family }) => family);
  for (const children of byFamily.values()) children.sort((left, right) => left.dob - right.dob);
  return drafts
    .toSorted((left, right) => left.admittedOn - right.admittedOn)
    .map((draft, index) => {
      const id = `stu-${String(index + 1).padStart(5, '0')}`;
      return {
        ...draft,
        id,
        reference: referenceTo(id, draft.name),
        sequence: `${plan.code}-${String(index + 1001).padStart(5, '0')}`,
        /** 0 for the eldest at this school. */
        siblingIndex: byFamily.get(draft.family)?.indexOf(draft) ?? 0,
      };
    });
}

function groupBy<Key, One>(some: readonly One[], keyOf: (one: One) => Key): ReadonlyMap<Key, One[]> {
  const groups = new Map<Key, One[]>();
  for (const one of some) getOrMake(groups, keyOf(one), () => []).push(one);
  return groups;
}

/** A stored reference. */
function referenceTo(value: string, label: string) {
  return { value, label };
}

type Seat = ReturnType<typeof listSeats>[number];

/** Seats by class in the running session; students who completed the last class are beyond it. */
function listSeats({ classes, studentCount }: SchoolPlan, moment: SchoolMoment) {
  const sectionsOf = (index: number) => classes[index]?.sections.length ?? 1;
  const seats = Array.from({ length: studentCount }, (_, index) => {
    const classIndex = index % classes.length;
    return { classIndex, sectionIndex: Math.floor(index / classes.length) % sectionsOf(classIndex) };
  });
  const last = classes.length - 1;
  for (let yearsAgo = 1; yearsAgo < moment.years; yearsAgo++) {
    for (let index = 0; index < Math.floor(studentCount / classes.length); index++)
      seats.push({ classIndex: last + yearsAgo, sectionIndex: index % sectionsOf(last) });
  }
  return seats;
}

/** A family: the number of its children at the school, and its names. */
function createFamily(random: Random, plan: SchoolPlan) {
  const isHindi = random.isChance(0.03);
  const names = namesBy(random, isHindi ? 'hindi' : 'latin');
  const familyName = names.family();
  const father = names.first('male');
  const locality = random.pick(LOCALITIES);
  const family = {
    father_name: `${father} ${familyName}`,
    mother_name: `${names.first('female')} ${familyName}`,
    guardian_phone: phoneNumber(random),
    email:
      isHindi || random.isChance(0.2)
        ? undefined
        : `${mailName(father, familyName)}${random.integer(1, 99)}@mail.example`,
    address: `${random.integer(1, 240)}, ${locality}, Nagpur, Maharashtra 4400${random.integer(10, 36)}`,
    category: random.weighted({ General: 46, OBC: 32, SC: 12, ST: 5, EWS: 5 }),
    route: random.isChance(plan.parentDomainId ? 0.2 : 0.35) ? random.pick(BUS_ROUTES).name : undefined,
  };
  const childCount = Number(random.weighted({ 1: 80, 2: 17, 3: 3 }));
  return { family, childCount, nameOf: (gender: Gender) => `${names.first(gender)} ${familyName}` };
}

const LOCALITIES = [
  'Civil Lines',
  'Dharampeth',
  'Sadar',
  'Ramdaspeth',
  'Manish Nagar',
  'Hingna Road',
  'Pratap Nagar',
  'Gandhibagh',
  'Wardhaman Nagar',
  'Trimurti Nagar',
] as const;

/** The part of a mail address before its number. */
function mailName(firstName: string, familyName: string): string {
  return `${firstName}.${familyName}`.toLowerCase().replaceAll(/[^a-z.]+/g, '');
}

/**
 * Ten digits that begin with 5, which no Indian mobile number does: a demo school cannot write to a real
 * person.
 */
function phoneNumber(random: Random): string {
  return `+915${random.digits(9)}`;
}

function createStudent(
  random: Random,
  nameOf: (gender: Gender) => string,
  context: { readonly plan: SchoolPlan; readonly moment: SchoolMoment; readonly seat: Seat },
) {
  const { plan, moment, seat } = context;
  const { startYear, today } = moment;
  const gender = random.weighted({ male: 515, female: 480, other: 5 });
  const name = nameOf(gender);
  const age = (plan.classes[0]?.age ?? 6) + seat.classIndex;
  const yearsSinceLeft = Math.max(0, seat.classIndex - plan.classes.length + 1);
  const admittedOn = admissionDay(random, { moment, seat, yearsSinceLeft });
  const completed = yearsSinceLeft > 0 ? epochDay(startYear - yearsSinceLeft + 1, 3, 31) : undefined;
  const leaves = random.isChance(0.025)
    ? random.integer(epochDay(startYear, 7, 1), epochDay(startYear + 1, 2, 28))
    : Number.POSITIVE_INFINITY;
  const leftEarly = leaves <= today && leaves > admittedOn + 30 ? leaves : undefined;
  const leftOn = completed ?? leftEarly;
  const isTransfer = completed === undefined && leftOn !== undefined && leftOn % 3 !== 0;
  const left = isTransfer ? 'transferred' : 'withdrawn';
  return {
    ...{ name, gender },
    dob: epochDay(startYear - age - 1, random.integer(4, 15), random.integer(1, 28)),
    ...seat,
    /** The section attended before a change of section, until the day of the change. */
    formerSection: sectionChange(random, context),
    admittedOn,
    leftOn,
    status: leftOn === undefined ? 'active' : left,
  };
}

/**
 * Most join in the first class, a quarter in a later one; of this session's newcomers a third in mid-session.
 */
function admissionDay(
  random: Random,
  context: { readonly moment: SchoolMoment; readonly seat: Seat; readonly yearsSinceLeft: number },
): EpochDay {
  const { moment, seat, yearsSinceLeft } = context;
  const kind = random.weighted({ new: 5, later: 25, first: 70 });
  const later = random.integer(yearsSinceLeft, seat.classIndex);
  const yearsAgo = { new: yearsSinceLeft, later, first: seat.classIndex }[kind];
  const year = moment.startYear - yearsAgo;
  const midSession = epochDay(year, 6, 15) + random.integer(0, 75);
  if (yearsAgo === 0 && random.isChance(0.3) && midSession <= moment.today) return midSession;
  return Math.min(epochDay(year, 4, 1), moment.today);
}

function sectionChange(
  random: Random,
  { plan, moment, seat }: { readonly plan: SchoolPlan; readonly moment: SchoolMoment; readonly seat: Seat },
) {
  const sections = plan.classes[seat.classIndex]?.sections.length ?? 1;
  const until = epochDay(moment.startYear, 7, 1) + random.integer(0, 100);
  if (!random.isChance(0.01) || sections < 2 || until > moment.today) return undefined;
  return { index: (seat.sectionIndex + 1) % sections, until };
}

/**
 * Names of people in India, from the lists of faker's locale `en_IN`, chosen by our own random numbers,
 * because faker's are one global stream. A few families have Hindi names in Devanagari, which faker lacks.
 */
function namesBy(random: Random, script: 'latin' | 'hindi') {
  const { first_name, last_name } = faker.definitions.person;
  const latin = { boys: first_name.male, girls: first_name.female, families: last_name.generic };
  const { boys, girls, families } = script === 'hindi' ? HINDI_NAMES : latin;
  const pick = (names: readonly string[] = []) => random.pick(names as [string]);
  return {
    family: () => pick(families),
    first: (gender: Gender) => pick(gender === 'female' ? girls : boys),
  };
}

const HINDI_NAMES = {
  families: 'शर्मा वर्मा गुप्ता मिश्रा यादव त्रिपाठी पाण्डेय चौधरी ठाकुर कुशवाहा जोशी देशमुख'.split(' '),
  boys: 'आरव विवान आदित्य अर्जुन कृष्ण ईशान रोहन राहुल अमित मोहन दीपक संजय राजेश सुरेश'.split(' '),
  girls: 'अनन्या दीक्षा काव्या नेहा पूजा प्रिया श्रुति सीता गीता मीरा राधा सुनीता कविता ऋतु'.split(' '),
};

export function* registrationRecords(school: DemoSchool): Iterable<DemoRecord> {
  const places = new Map(school.students.map((student) => [student, lastPlace(student, school)]));
  // Roll numbers start from 1 in each section, by name.
  const rolls = groupBy(school.students, (student) => JSON.stringify(places.get(student)));
  for (const students of rolls.values()) students.sort(byName);
  for (const student of school.students) {
    const { admittedOn, leftOn } = student;
    const place = places.get(student);
    yield demoRecord(student.id, instantText(admittedOn, clock(10, 0)), {
      sequence: student.sequence,
      name: student.name,
      ...place,
      roll_no: (rolls.get(JSON.stringify(place))?.indexOf(student) ?? 0) + 1,
      gender: student.gender,
      dob: dayText(student.dob),
      ...student.family,
      admitted_on: dayText(admittedOn),
      left_on: leftOn && dayText(leftOn),
      status: student.status,
      earlier_stays: stayInFormerSection(student, school),
    });
  }
}

/** By name, then by number. */
export function byName(left: Student, right: Student): number {
  return compareTexts(left.name, right.name) || compareTexts(left.id, right.id);
}

function compareTexts(left: string, right: string): number {
  return Number(left > right) - Number(left < right);
}

/** The stay before a change of section in the running session. */
function stayInFormerSection(student: Student, school: DemoSchool): JsonValue | undefined {
  const { formerSection: former, classIndex, admittedOn, leftOn } = student;
  const { startYear } = school;
  const klass = school.plan.classes[classIndex];
  const from = Math.max(admittedOn, epochDay(startYear, 4, 1));
  if (!former || !klass || from >= former.until || (leftOn ?? former.until) < former.until) return undefined;
  const section = klass.sections[former.index % klass.sections.length]?.name ?? '';
  const days = { from: dayText(from), to: dayText(former.until - 1) };
  return [{ session: sessionName(startYear), class: klass.name, section, ...days }];
}

/** The place a registration shows: that of the running session, or of the last one attended. */
function lastPlace(student: Student, { plan: { classes }, startYear }: DemoSchool) {
  const klass = classes[Math.min(student.classIndex, classes.length - 1)];
  const { formerSection: former, leftOn } = student;
  const isFormer = former && leftOn && leftOn < former.until && leftOn >= epochDay(startYear, 4, 1);
  const index = isFormer ? former.index % (klass?.sections.length ?? 1) : student.sectionIndex;
  const section = klass?.sections[index]?.name;
  const session = sessionName(leftOn === undefined ? startYear : sessionStartYear(leftOn));
  return { class: klass?.name, section, session };
}

export function* staffRecords(school: DemoSchool): Iterable<DemoRecord> {
  for (const member of school.staff.members) {
    yield demoRecord(member.id, instantText(member.joinedOn, clock(9, 0)), member.data);
  }
}

export function* classRecords(school: DemoSchool, createdAt: string): Iterable<DemoRecord> {
  for (const { name, category, order, sections } of school.plan.classes) {
    yield demoRecord(`class-${name}`, createdAt, {
      ...{ name, category, order },
      sections: sections.map((section) => ({
        ...section,
        class_teacher: school.staff.classTeacher(name, section.name).reference,
      })),
    });
  }
}
