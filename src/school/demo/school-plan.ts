/** The two demo schools and their classes, sections, subjects and bus routes. */
import type { JsonValue } from '../../base/json/json.js';
import { DEMO_DOMAIN } from './demo-options.js';
import type { EpochDay } from './session-calendar.js';

export type DemoClass = ReturnType<typeof planClasses>[number];

/** The present of a demo school: the running session and today. */
export interface SchoolMoment {
  readonly seed: number;
  readonly today: EpochDay;
  /** The year the running session starts in. */
  readonly startYear: number;
  readonly years: number;
}

export interface SchoolPlan {
  readonly domainId: string;
  readonly parentDomainId: string | undefined;
  readonly name: string;
  readonly shortName: string;
  /** Begins admission numbers. */
  readonly code: string;
  readonly mailDomain: string;
  readonly studentCount: number;
  readonly staffCount: number;
  readonly classes: readonly DemoClass[];
  /** The section of the user `teacher`. */
  readonly demoTeacherOf: { readonly className: string; readonly section: string };
  readonly properties: Readonly<Record<string, JsonValue>>;
}

/** The main school (domain `demo`) and its branch (`demo-north`, a fifth of the size, up to class 5). */
export function planSchools(studentCount: number): readonly SchoolPlan[] {
  const branchCount = Math.max(8, Math.round(studentCount / 5));
  const [schoolName, branchName] = [
    'Gyan Vidya Senior Secondary School',
    'Gyan Vidya Junior School, North Campus',
  ];
  return [
    {
      domainId: DEMO_DOMAIN,
      parentDomainId: undefined,
      name: schoolName,
      shortName: 'Gyan Vidya School',
      code: 'GV',
      mailDomain: 'gyanvidya.example',
      studentCount,
      staffCount: Math.max(24, Math.round((studentCount * 70) / 1200)),
      classes: planClasses(CLASSES.slice(3), { studentCount, capacity: 40 }),
      demoTeacherOf: { className: '5', section: 'A' },
      properties: {
        schoolName,
        timezone: TIME_ZONE,
        currency: 'INR',
        sessionFirstMonth: 4,
        weeklyOffs: ['SU', '2SA', '4SA'],
        leaveCountsPresent: false,
        schoolStartsAt: '08:00',
      },
    },
    {
      domainId: 'demo-north',
      parentDomainId: DEMO_DOMAIN,
      name: branchName,
      shortName: 'Gyan Vidya North',
      code: 'GN',
      mailDomain: 'north.gyanvidya.example',
      studentCount: branchCount,
      staffCount: Math.max(20, Math.round((branchCount * 70) / 1000)),
      classes: planClasses(CLASSES.slice(0, 8), { studentCount: branchCount, capacity: 25 }),
      demoTeacherOf: { className: '1', section: 'A' },
      properties: { schoolName: branchName },
    },
  ];
}

/** The time zone of both schools. */
export const TIME_ZONE = 'Asia/Kolkata';

/** The name of each class, its category, and a student's usual age on 31 March before the session. */
const CLASSES = [
  ...['Nursery', 'LKG', 'UKG'].map((name) => [name, 'Pre-primary'] as const),
  ...['1', '2', '3', '4', '5'].map((name) => [name, 'Primary'] as const),
  ...['6', '7', '8'].map((name) => [name, 'Middle'] as const),
  ...['9', '10'].map((name) => [name, 'Secondary'] as const),
  ...['11', '12'].map((name) => [name, 'Senior'] as const),
].map(([name, category], index) => ({ name, category, age: index + 3 }));

/**
 * Makes as many sections as the capacity requires: 1,200 students in 12 classes of 40 seats make three each.
 */
function planClasses(classes: typeof CLASSES, size: { studentCount: number; capacity: number }) {
  const perClass = size.studentCount / classes.length;
  const sectionCount = Math.max(1, Math.ceil(perClass / size.capacity));
  return classes.map(({ name, category, age }, index) => ({
    ...{ name, index, order: age - 5, category, age },
    sections: Array.from({ length: sectionCount }, (_, section) => ({
      name: sectionName(section),
      capacity: size.capacity,
      room: String((Math.floor(index / 4) + 1) * 100 + (index % 4) * sectionCount + section + 1),
    })),
  }));
}

/** A … Z, then A2 … Z2. */
function sectionName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${letter}${Math.floor(index / 26) + 1}`;
}

interface BusRoute {
  readonly name: string;
  /** Fare a month, in paise. */
  readonly fare: number;
}

export const BUS_ROUTES: readonly [BusRoute, ...BusRoute[]] = [
  { name: 'R1 Sadar', fare: 95_000 },
  { name: 'R2 Dharampeth', fare: 110_050 },
  { name: 'R3 Civil Lines', fare: 120_000 },
  { name: 'R4 Manish Nagar', fare: 145_075 },
  { name: 'R5 Hingna', fare: 165_000 },
];

/**
 * The subjects of a class; of the senior classes by the stream of the section: science, commerce, humanities.
 */
export function subjectsOf(klass: DemoClass, sectionIndex: number): readonly string[] {
  return (SUBJECTS[klass.category] ?? STREAMS[sectionIndex % 3] ?? '').split(', ');
}

const SUBJECTS: Readonly<Record<string, string>> = {
  'Pre-primary': 'English, Hindi, Numbers, Drawing',
  Primary: 'English, Hindi, Mathematics, Environmental Studies, Computer, Art',
  Middle: 'English, Hindi, Sanskrit, Mathematics, Science, Social Science, Computer',
  Secondary: 'English, Hindi, Mathematics, Science, Social Science, Information Technology',
};

const STREAMS = [
  'English, Physics, Chemistry, Mathematics, Computer Science',
  'English, Accountancy, Business Studies, Economics, Physical Education',
  'English, History, Political Science, Geography, Hindi',
];
