/**
 * The parameters in addition to `oquery` of the documented report paths over a generic read, as data: for
 * each collection its parameters, and the condition that each adds. They apply together with `oquery`.
 *
 * @see interface 4.5, decisions 8
 */
import { addDays, isDay } from '../../base/model/calendar.js';
import type { Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { type Day, isSession } from '../../school/reports/engine/parameter-types.js';
import { concessionsInForce } from '../../school/reports/student-concession.js';
import { invalidParameter } from './parameter-reader.js';
import { inQuery, type Parameter, type Schema } from './route.js';

export interface CollectionParameter extends Parameter {
  /** The field that it is about. */
  readonly path: Path;
  /** The parameter is a name that must exist; absent: it is not a name. */
  readonly named?: Named;
  /** `today` is the day of the caller's domain. @throws INVALID_VALUE (400) */
  toFilter(text: string, today: Day): Filter;
}

/** The places of the names that a parameter may have, besides the records that are read. */
export interface Named {
  /** The beginning of the message, up to the name: `There is no class`. */
  readonly sentence: string;
  /** `contains`: the parameter is a part of the name; absent: the whole of it. */
  readonly match?: 'contains';
  /** The contract has an empty list for an unknown name; it is pointed out. */
  readonly isHinted?: true;
  /** Whether the names of the first place are few enough to suggest one. */
  readonly isSuggested?: true;
  readonly places: readonly [NamedPlace, ...NamedPlace[]];
}

export interface NamedPlace {
  readonly collection: string;
  readonly path: Path;
}

export interface CollectionRead {
  readonly collection: string;
  /** Default: GET and POST. */
  readonly methods?: readonly ('GET' | 'POST')[];
  readonly parameters: readonly CollectionParameter[];
}

const DAY: Schema = { type: 'string', format: 'date' };
const DAY_WORDS = ['today', 'yesterday', 'daybeforeyesterday'] as const;

// A class or student whose record is gone exists as long as other records refer to it, as in reports.
const CLASSES: Named = {
  sentence: 'There is no class',
  isSuggested: true,
  places: [
    { collection: 'class', path: ['name'] },
    { collection: 'registration', path: ['class'] },
  ],
};
const ADMISSION_NUMBERS: Named = {
  sentence: 'There is no student with the admission number',
  places: [{ collection: 'registration', path: ['sequence'] }],
};
/** @see reports 4 */
const STUDENTS: Named = {
  sentence: 'There is no student with the ID',
  isHinted: true,
  places: [{ collection: 'registration', path: ['_id'] }],
};
const STAFF: Named = {
  sentence: 'There is no staff member with the ID',
  places: [{ collection: 'pltf_user', path: ['_id'] }],
};
const ROLES: Named = {
  sentence: 'Nobody has a role with',
  match: 'contains',
  isSuggested: true,
  places: [{ collection: 'pltf_user', path: ['roles'] }],
};

export const COLLECTION_READS: readonly CollectionRead[] = [
  {
    collection: 'attendance',
    parameters: [
      parameter('class', 'class name', { example: '5', named: CLASSES }),
      parameter('start', 'first day', {
        ...{ schema: DAY, example: '2026-04-01', path: ['created'], toFilter: from },
      }),
      parameter('end', 'last day, included', {
        ...{ schema: DAY, example: '2026-04-30', path: ['created'], toFilter: until },
      }),
    ],
  },
  {
    collection: 'registration',
    parameters: [
      parameter('sequence', 'the admission number', { example: 'GV-01042', named: ADMISSION_NUMBERS }),
    ],
  },
  {
    collection: 'pltf_user',
    parameters: [
      parameter('roles', 'a role, or a part of its name', {
        ...{ example: 'teacher', named: ROLES, toFilter: contains('a role, or a part of its name') },
      }),
    ],
  },
  {
    collection: 'teacher_attendance',
    parameters: [
      parameter('name.value', "the teacher's user ID", { example: 'usr-teacher', named: STAFF }),
      parameter('created_on', `a day: YYYY-MM-DD, ${DAY_WORDS.join(', ')}`, {
        ...{ example: 'today', toFilter: on },
      }),
    ],
  },
  {
    collection: 'result',
    parameters: [
      parameter('session', 'the school year, YYYY-YY', {
        schema: { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
        example: '2026-27',
        toFilter: matching(isSession, 'a session YYYY-YY, such as 2026-27'),
      }),
      parameter('term', 'halfyear or finalyear', {
        schema: { type: 'string', enum: ['halfyear', 'finalyear'] },
        example: 'halfyear',
        toFilter: matching((text) => text === 'halfyear' || text === 'finalyear', 'halfyear or finalyear'),
      }),
      parameter('admission_no', 'the admission number', { example: 'GV-01042', named: ADMISSION_NUMBERS }),
    ],
  },
  // Report 4 is a read by POST, of the concessions in force today. By GET it is an ordinary collection.
  { collection: 'fee_concession', methods: ['GET'], parameters: [] },
  {
    collection: 'fee_concession',
    methods: ['POST'],
    parameters: [
      {
        ...inQuery(
          'name.value',
          'The student ID: only concessions of this student that are in force today.',
          {
            isRequired: true,
            mayBeInOquery: true,
            example: 'stu-00042',
          },
        ),
        path: ['name', 'value'],
        named: STUDENTS,
        toFilter: concessionsInForce,
      },
    ],
  },
];

interface Place {
  readonly path: Path;
  readonly name: string;
}

type ToFilter = (text: string, place: Place) => Filter;

/** Default: the field of this name, which equals the text. */
function parameter(
  name: string,
  description: string,
  options: Partial<Pick<CollectionParameter, 'schema' | 'path' | 'named'>> & {
    readonly example: string;
    readonly toFilter?: ToFilter;
  },
): CollectionParameter {
  const { path = name.split('.'), toFilter = equals } = options;
  return {
    ...inQuery(name, `Only records of this: ${description}.`),
    ...options,
    path,
    toFilter: (text) => toFilter(text, { path, name }),
  };
}

function equals(text: string, { path }: Place): Filter {
  return { kind: 'looseEquals', path, text };
}

/** Refuses the empty text, which every text contains: a form with a blank field would get every record. */
function contains(expected: string): ToFilter {
  return (text, { path, name }) => {
    if (text === '') throw invalidParameter(name, text, expected);
    return { kind: 'contains', path, text };
  };
}

function matching(is: (text: string) => boolean, expected: string): ToFilter {
  return (text, { path, name }) => {
    if (!is(text)) throw invalidParameter(name, text, expected);
    return { kind: 'looseEquals', path, text };
  };
}

function on(text: string, { path, name }: Place): Filter {
  const word = DAY_WORDS.find((known) => known === text);
  if (word) return { kind: 'on', path, day: { word } };
  return { kind: 'on', path, day: parseDay(name, text, `a day YYYY-MM-DD, ${DAY_WORDS.join(', ')}`) };
}

function from(text: string, { path, name }: Place): Filter {
  return { kind: 'greaterOrEqual', path, value: parseDay(name, text, 'a day YYYY-MM-DD') };
}

/** The parameter includes the end; the filter is half-open. */
function until(text: string, { path, name }: Place): Filter {
  return { kind: 'lessThan', path, value: addDays(parseDay(name, text, 'a day YYYY-MM-DD'), 1) };
}

function parseDay(name: string, text: string, expected: string): string {
  if (isDay(text)) return text;
  throw invalidParameter(name, text, expected);
}
