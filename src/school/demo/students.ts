/** The people of a demo school: families with their children, and the staff. */

import { DEMO_USERS } from './demo-options.js';
import { type EpochDay, epochDay } from './epoch-day.js';
import { type Gender, type NameSource, nameSource } from './name-source.js';
import { Random } from './random.js';
import {
  BUS_ROUTES,
  type BusRoute,
  type DemoClass,
  type DemoSection,
  type SchoolPlan,
} from './school-plan.js';
import { listEpochDays } from './session-calendar.js';

/** A stored reference. */
interface Reference {
  readonly value: string;
  readonly label: string;
  readonly [name: string]: string;
}

interface Family {
  readonly fatherName: string;
  readonly motherName: string;
  readonly phone: string;
  readonly email: string | undefined;
  readonly address: string;
  readonly category: string;
  readonly route: BusRoute | undefined;
  readonly childCount: number;
}

export interface Student {
  readonly id: string;
  readonly reference: Reference;
  readonly sequence: string;
  readonly name: string;
  readonly gender: Gender;
  readonly family: Family;
  /** 0 for the eldest at this school. */
  readonly siblingIndex: number;
  readonly dob: EpochDay;
  /** The index of the class in the running session; beyond the last class for those who completed it. */
  readonly classIndex: number;
  readonly sectionIndex: number;
  /** The section attended before a change of section, until the day of the change. */
  readonly formerSection: { readonly index: number; readonly until: EpochDay } | undefined;
  readonly admittedOn: EpochDay;
  readonly leftOn: EpochDay | undefined;
  readonly status: 'active' | 'withdrawn' | 'transferred';
}

export interface StaffMember {
  readonly id: string;
  readonly reference: Reference;
  readonly userName: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly employeeCode: string;
  readonly department: string;
  readonly designation: string;
  readonly phone: string;
  readonly joinedOn: EpochDay;
  readonly leftOn: EpochDay | undefined;
}

export interface StaffRoom {
  readonly members: readonly StaffMember[];
  readonly accountants: readonly [StaffMember, ...StaffMember[]];
  readonly clerk: StaffMember;
  readonly principal: StaffMember;
  classTeacher(className: string, section: string): StaffMember;
}

/** When and where the people live: the running session and today. */
export interface SchoolMoment {
  readonly seed: number;
  readonly today: EpochDay;
  /** The year the running session starts in. */
  readonly startYear: number;
  readonly years: number;
}

export function createStaff(plan: SchoolPlan, moment: SchoolMoment): StaffRoom {
  const random = new Random(moment.seed, plan.domainId, 'staff');
  const names = nameSource(random);
  const sections = plan.classes.flatMap((klass) => klass.sections.map((section) => ({ klass, section })));
  const posts = listPosts(plan, sections.length);
  const userNames = new Set<string>();
  const members = posts.map((post, index): StaffMember => {
    const demoUser = DEMO_USERS[index];
    const gender = random.pick(['male', 'female', 'female'] as const);
    const name = NAMED_STAFF[plan.domainId]?.[index] ?? `${names.firstName(gender)} ${names.familyName()}`;
    const id = demoUser ? `usr-${demoUser.userName}` : `usr-${String(index + 1).padStart(3, '0')}`;
    const hasLeft = post.hasLeft;
    const joinedYear = moment.startYear - random.integer(hasLeft ? 4 : 1, 14);
    return {
      id,
      reference: { value: id, label: name },
      userName: demoUser?.userName ?? freeUserName(name, userNames),
      name,
      roles: post.roles,
      employeeCode: `E${String(index + 1).padStart(3, '0')}`,
      department: post.department,
      designation: post.designation,
      phone: phoneNumber(random),
      joinedOn: epochDay(joinedYear, random.pick([4, 6, 6, 7]), random.integer(1, 20)),
      leftOn: hasLeft ? epochDay(moment.startYear - random.integer(0, 2), 3, 31) : undefined,
    };
  });
  const teachers = members.filter(({ roles, leftOn }) => roles.includes('teacher') && leftOn === undefined);
  const teacherBySection = assignClassTeachers(plan, sections, teachers);
  const memberFor = (userName: string): StaffMember => {
    const member = members.find((candidate) => candidate.userName === userName);
    if (!member) throw new Error(`no staff member ${userName}`);
    return member;
  };
  return {
    members,
    accountants: [
      memberFor('accountant'),
      ...members.slice(5).filter(({ roles }) => roles.includes('accountant')),
    ],
    clerk: memberFor('clerk'),
    principal: memberFor('admin'),
    classTeacher: (className, section) =>
      teacherBySection.get(`${className}/${section}`) ?? memberFor('teacher'),
  };
}

interface Post {
  readonly roles: readonly string[];
  readonly department: string;
  readonly designation: string;
  readonly hasLeft: boolean;
}

/** The demo users first, in their order; then the office; then teachers; the last few have left. */
function listPosts(plan: SchoolPlan, sectionCount: number): readonly Post[] {
  const post = (role: string, department: string, designation: string): Post => ({
    roles: role === '' ? [] : [role],
    department,
    designation,
    hasLeft: false,
  });
  const posts: Post[] = [
    post('admin', 'Administration', 'Principal'),
    post('accountant', 'Accounts', 'Senior accountant'),
    post('teacher', 'Mathematics', 'TGT'),
    post('clerk', 'Office', 'Office superintendent'),
    post('viewer', 'Trust', 'Trustee'),
    { ...post('teacher', 'English', 'Vice principal'), roles: ['teacher', 'admin'] },
    post('accountant', 'Accounts', 'Accountant'),
    post('accountant', 'Accounts', 'Cashier'),
    post('clerk', 'Office', 'Clerk'),
    post('viewer', 'Library', 'Librarian'),
    post('', 'Transport', 'Transport in-charge'),
  ];
  const leavers = 3;
  const count = Math.max(plan.staffCount, posts.length + sectionCount + leavers);
  while (posts.length < count) {
    const department = DEPARTMENTS[posts.length % DEPARTMENTS.length] ?? 'English';
    const designation = ['PRT', 'TGT', 'PGT'][posts.length % 3] ?? 'TGT';
    posts.push({ ...post('teacher', department, designation), hasLeft: posts.length >= count - leavers });
  }
  return posts;
}

const DEPARTMENTS = [
  'Mathematics',
  'English',
  'Hindi',
  'Science',
  'Social Science',
  'Sanskrit',
  'Computer',
  'Physical Education',
  'Arts',
  'Commerce',
];

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

function assignClassTeachers(
  plan: SchoolPlan,
  sections: readonly { klass: DemoClass; section: DemoSection }[],
  teachers: readonly StaffMember[],
): ReadonlyMap<string, StaffMember> {
  const demoTeacher = teachers.find(({ userName }) => userName === 'teacher');
  const others = teachers.filter((teacher) => teacher !== demoTeacher);
  const teacherBySection = new Map<string, StaffMember>();
  const demoSection = `${plan.demoTeacherOf.className}/${plan.demoTeacherOf.section}`;
  if (demoTeacher) teacherBySection.set(demoSection, demoTeacher);
  let next = 0;
  for (const { klass, section } of sections) {
    const key = `${klass.name}/${section.name}`;
    const teacher = others[next % others.length];
    if (teacherBySection.has(key) || !teacher) continue;
    teacherBySection.set(key, teacher);
    next++;
  }
  return teacherBySection;
}

/**
 * All students of the school's sessions, by admission number: the running session's, and those who completed
 * the last class in the sessions before.
 */
export function createStudents(plan: SchoolPlan, moment: SchoolMoment): readonly Student[] {
  const random = new Random(moment.seed, plan.domainId, 'students');
  const names = nameSource(random);
  const seats = random.shuffle(listSeats(plan, moment));
  const drafts: StudentDraft[] = [];
  while (drafts.length < seats.length) {
    const family = createFamily(random, names, plan);
    for (let child = 0; child < family.members.childCount && drafts.length < seats.length; child++) {
      const seat = seats[drafts.length];
      if (seat) drafts.push(createStudent({ random, names, plan, moment, family, seat }));
    }
  }
  const eldestFirst = new Map<Family, StudentDraft[]>();
  for (const draft of drafts) {
    const children = eldestFirst.get(draft.family) ?? [];
    children.push(draft);
    eldestFirst.set(draft.family, children);
  }
  for (const children of eldestFirst.values()) children.sort((left, right) => left.dob - right.dob);
  return drafts
    .map((draft, index) => ({ draft, index }))
    .sort((left, right) => left.draft.admittedOn - right.draft.admittedOn || left.index - right.index)
    .map(({ draft }, index): Student => {
      const id = `stu-${String(index + 1).padStart(5, '0')}`;
      return {
        ...draft,
        id,
        reference: { value: id, label: draft.name },
        sequence: `${plan.code}-${String(index + 1001).padStart(5, '0')}`,
        siblingIndex: eldestFirst.get(draft.family)?.indexOf(draft) ?? 0,
      };
    });
}

type StudentDraft = Omit<Student, 'id' | 'reference' | 'sequence' | 'siblingIndex'>;

interface Seat {
  readonly classIndex: number;
  readonly sectionIndex: number;
}

function listSeats(plan: SchoolPlan, moment: SchoolMoment): Seat[] {
  const seats: Seat[] = [];
  const last = plan.classes.length - 1;
  for (let index = 0; index < plan.studentCount; index++) {
    const classIndex = index % plan.classes.length;
    const sections = plan.classes[classIndex]?.sections.length ?? 1;
    seats.push({ classIndex, sectionIndex: Math.floor(index / plan.classes.length) % sections });
  }
  for (let yearsAgo = 1; yearsAgo < moment.years; yearsAgo++) {
    const sections = plan.classes[last]?.sections.length ?? 1;
    for (let index = 0; index < Math.floor(plan.studentCount / plan.classes.length); index++) {
      seats.push({ classIndex: last + yearsAgo, sectionIndex: index % sections });
    }
  }
  return seats;
}

interface FamilyDraft {
  readonly members: Family;
  readonly familyName: string;
  readonly isHindi: boolean;
}

function createFamily(random: Random, names: NameSource, plan: SchoolPlan): FamilyDraft {
  const isHindi = random.isChance(0.03);
  const familyName = isHindi ? names.hindiFamilyName() : names.familyName();
  const firstName = (gender: Gender): string =>
    isHindi ? names.hindiFirstName(gender) : names.firstName(gender);
  const father = firstName('male');
  const locality = random.pick(LOCALITIES);
  return {
    familyName,
    isHindi,
    members: {
      fatherName: `${father} ${familyName}`,
      motherName: `${firstName('female')} ${familyName}`,
      phone: phoneNumber(random),
      email:
        isHindi || random.isChance(0.2)
          ? undefined
          : `${mailName(father, familyName)}${random.integer(1, 99)}@mail.example`,
      address: `${random.integer(1, 240)}, ${locality}, Nagpur, Maharashtra 4400${random.integer(10, 36)}`,
      category: random.weighted([
        [46, 'General'],
        [32, 'OBC'],
        [12, 'SC'],
        [5, 'ST'],
        [5, 'EWS'],
      ]),
      route: random.isChance(plan.parentDomainId ? 0.2 : 0.35) ? random.pick(BUS_ROUTES) : undefined,
      childCount: random.weighted([
        [80, 1],
        [17, 2],
        [3, 3],
      ]),
    },
  };
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

/**
 * Ten digits that begin with 5, which no Indian mobile number does: a demo school cannot write to a real
 * person.
 */
/** The part of a mail address before its number. */
function mailName(firstName: string, familyName: string): string {
  return `${firstName}.${familyName}`.toLowerCase().replaceAll(/[^a-z.]+/g, '');
}

function phoneNumber(random: Random): string {
  return `+915${random.digits(9)}`;
}

function createStudent(context: {
  random: Random;
  names: NameSource;
  plan: SchoolPlan;
  moment: SchoolMoment;
  family: FamilyDraft;
  seat: Seat;
}): StudentDraft {
  const { random, names, plan, moment, family, seat } = context;
  const gender = random.weighted<Gender>([
    [515, 'male'],
    [480, 'female'],
    [5, 'other'],
  ]);
  const firstName = family.isHindi ? names.hindiFirstName(gender) : names.firstName(gender);
  const age = (plan.classes[0]?.age ?? 6) + seat.classIndex;
  const yearsSinceLeft = Math.max(0, seat.classIndex - plan.classes.length + 1);
  const admittedOn = admissionDay(random, { moment, seat, yearsSinceLeft });
  const completed = yearsSinceLeft > 0 ? epochDay(moment.startYear - yearsSinceLeft + 1, 3, 31) : undefined;
  const leavingDay = random.isChance(0.025)
    ? random.pick(
        asList(listEpochDays(epochDay(moment.startYear, 7, 1), epochDay(moment.startYear + 1, 2, 28))),
      )
    : undefined;
  const leftEarly =
    completed === undefined &&
    leavingDay !== undefined &&
    leavingDay <= moment.today &&
    leavingDay > admittedOn + 30
      ? leavingDay
      : undefined;
  return {
    name: `${firstName} ${family.familyName}`,
    gender,
    family: family.members,
    dob: epochDay(moment.startYear - age - 1, random.integer(4, 15), random.integer(1, 28)),
    ...seat,
    formerSection: sectionChange(random, { plan, moment, seat }),
    admittedOn,
    leftOn: completed ?? leftEarly,
    status: statusOf(completed, leftEarly),
  };
}

function statusOf(completed: EpochDay | undefined, leftEarly: EpochDay | undefined): Student['status'] {
  if (completed !== undefined) return 'withdrawn';
  if (leftEarly === undefined) return 'active';
  return leftEarly % 3 === 0 ? 'withdrawn' : 'transferred';
}

/**
 * Most join in the first class, a quarter in a later one; of this session's newcomers a third in mid-session.
 */
function admissionDay(
  random: Random,
  context: { moment: SchoolMoment; seat: Seat; yearsSinceLeft: number },
): EpochDay {
  const { moment, seat, yearsSinceLeft } = context;
  const kind = random.weighted([
    [5, 'new'],
    [25, 'later'],
    [70, 'first'],
  ] as const);
  const yearsAgoByKind = {
    new: yearsSinceLeft,
    later: random.integer(yearsSinceLeft, seat.classIndex),
    first: seat.classIndex,
  };
  const yearsAgo = yearsAgoByKind[kind];
  const year = moment.startYear - yearsAgo;
  const midSession = epochDay(year, 6, 15) + random.integer(0, 75);
  if (yearsAgo === 0 && random.isChance(0.3) && midSession <= moment.today) return midSession;
  return Math.min(epochDay(year, 4, 1), moment.today);
}

function sectionChange(
  random: Random,
  context: { plan: SchoolPlan; moment: SchoolMoment; seat: Seat },
): Student['formerSection'] {
  const { plan, moment, seat } = context;
  const sections = plan.classes[seat.classIndex]?.sections.length ?? 1;
  const until = epochDay(moment.startYear, 7, 1) + random.integer(0, 100);
  if (!random.isChance(0.01) || sections < 2 || until > moment.today) return undefined;
  return { index: (seat.sectionIndex + 1) % sections, until };
}

function asList<T>(values: readonly T[]): readonly [T, ...T[]] {
  const [first, ...others] = values;
  if (first === undefined) throw new Error('a choice needs at least one value');
  return [first, ...others];
}
