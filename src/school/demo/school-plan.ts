/** The two demo schools and their classes, sections, subjects and bus routes. */
import type { JsonValue } from '../../base/json/json.js';
import { DEMO_DOMAIN } from './demo-options.js';

export interface DemoSection {
  readonly name: string;
  readonly capacity: number;
  readonly room: string;
}

export interface DemoClass {
  readonly name: string;
  /** The place among the classes of the school, from 0. */
  readonly index: number;
  readonly order: number;
  readonly category: string;
  /** A student's usual age on 31 March before the session. */
  readonly age: number;
  readonly sections: readonly DemoSection[];
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
  return [
    {
      domainId: DEMO_DOMAIN,
      parentDomainId: undefined,
      name: 'Gyan Vidya Senior Secondary School',
      shortName: 'Gyan Vidya School',
      code: 'GV',
      mailDomain: 'gyanvidya.example',
      studentCount,
      staffCount: Math.max(24, Math.round((studentCount * 70) / 1200)),
      classes: planClasses(MAIN_CLASSES, { studentCount, capacity: 40 }),
      demoTeacherOf: { className: '5', section: 'A' },
      properties: {
        schoolName: 'Gyan Vidya Senior Secondary School',
        timezone: 'Asia/Kolkata',
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
      name: 'Gyan Vidya Junior School, North Campus',
      shortName: 'Gyan Vidya North',
      code: 'GN',
      mailDomain: 'north.gyanvidya.example',
      studentCount: branchCount,
      staffCount: Math.max(20, Math.round((branchCount * 70) / 1000)),
      classes: planClasses(BRANCH_CLASSES, { studentCount: branchCount, capacity: 25 }),
      demoTeacherOf: { className: '1', section: 'A' },
      properties: { schoolName: 'Gyan Vidya Junior School, North Campus' },
    },
  ];
}

const MAIN_CLASSES: readonly (readonly [name: string, category: string, age: number])[] = [
  ['1', 'Primary', 6],
  ['2', 'Primary', 7],
  ['3', 'Primary', 8],
  ['4', 'Primary', 9],
  ['5', 'Primary', 10],
  ['6', 'Middle', 11],
  ['7', 'Middle', 12],
  ['8', 'Middle', 13],
  ['9', 'Secondary', 14],
  ['10', 'Secondary', 15],
  ['11', 'Senior', 16],
  ['12', 'Senior', 17],
];

const BRANCH_CLASSES: readonly (readonly [name: string, category: string, age: number])[] = [
  ['Nursery', 'Pre-primary', 3],
  ['LKG', 'Pre-primary', 4],
  ['UKG', 'Pre-primary', 5],
  ...MAIN_CLASSES.slice(0, 5),
];

/**
 * Makes as many sections as the capacity asks for: 1,200 students in 12 classes of 40 seats make three each.
 */
function planClasses(
  classes: typeof MAIN_CLASSES,
  size: { studentCount: number; capacity: number },
): readonly DemoClass[] {
  const perClass = size.studentCount / classes.length;
  const sectionCount = Math.max(1, Math.ceil(perClass / size.capacity));
  return classes.map(([name, category, age], index) => ({
    name,
    index,
    order: age - 5,
    category,
    age,
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

export interface BusRoute {
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
  switch (klass.category) {
    case 'Pre-primary':
      return ['English', 'Hindi', 'Numbers', 'Drawing'];
    case 'Primary':
      return ['English', 'Hindi', 'Mathematics', 'Environmental Studies', 'Computer', 'Art'];
    case 'Middle':
      return ['English', 'Hindi', 'Sanskrit', 'Mathematics', 'Science', 'Social Science', 'Computer'];
    case 'Secondary':
      return ['English', 'Hindi', 'Mathematics', 'Science', 'Social Science', 'Information Technology'];
    default:
      return STREAMS[sectionIndex % 3] ?? STREAMS[0];
  }
}

const STREAMS: readonly [readonly string[], ...(readonly string[])[]] = [
  ['English', 'Physics', 'Chemistry', 'Mathematics', 'Computer Science'],
  ['English', 'Accountancy', 'Business Studies', 'Economics', 'Physical Education'],
  ['English', 'History', 'Political Science', 'Geography', 'Hindi'],
];
