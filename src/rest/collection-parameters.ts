/**
 * The parameters that the documented report paths over a generic read accept beside `oquery`, as data: for
 * each collection its parameters, and the condition that each adds. They apply together with `oquery`.
 *
 * @see interface 4.5, decisions 8
 */
import { addDays, isDay } from '../model/calendar.js';
import type { Filter } from '../model/filter.js';
import type { Path } from '../model/path.js';
import { type Day, isSession } from '../reports/engine/parameter-types.js';
import { concessionsInForce } from '../reports/student-concession.js';
import { invalidParameter } from './parameter-reader.js';
import type { Parameter, Schema } from './route.js';

export interface CollectionParameter extends Parameter {
  /** `today` is the day of the caller's domain. @throws INVALID_VALUE (400) */
  toFilter(text: string, today: Day): Filter;
}

export interface CollectionRead {
  readonly collection: string;
  readonly methods: readonly ('GET' | 'POST')[];
  readonly parameters: readonly CollectionParameter[];
}

const DAY: Schema = { type: 'string', format: 'date' };
const DAY_WORDS = ['today', 'yesterday', 'daybeforeyesterday'] as const;
const EITHER = ['GET', 'POST'] as const;

export const COLLECTION_READS: readonly CollectionRead[] = [
  {
    collection: 'attendance',
    methods: EITHER,
    parameters: [
      parameter('class', 'class name', { example: '5', toFilter: equals(['class']) }),
      parameter('start', 'first day', { schema: DAY, example: '2026-04-01', toFilter: from(['created']) }),
      parameter('end', 'last day, included', {
        schema: DAY,
        example: '2026-04-30',
        toFilter: until(['created']),
      }),
    ],
  },
  {
    collection: 'registration',
    methods: EITHER,
    parameters: [
      parameter('sequence', 'the admission number', { example: 'A-1001', toFilter: equals(['sequence']) }),
    ],
  },
  {
    collection: 'pltf_user',
    methods: EITHER,
    parameters: [
      parameter('roles', 'a role, or a part of its name', {
        example: 'teacher',
        toFilter: contains('roles', 'a role, or a part of its name'),
      }),
    ],
  },
  {
    collection: 'teacher_attendance',
    methods: EITHER,
    parameters: [
      parameter('name.value', "the teacher's user ID", {
        example: 'teacher',
        toFilter: equals(['name', 'value']),
      }),
      parameter('created_on', `a day: YYYY-MM-DD, ${DAY_WORDS.join(', ')}`, {
        example: 'today',
        toFilter: on(['created_on']),
      }),
    ],
  },
  {
    collection: 'result',
    methods: EITHER,
    parameters: [
      parameter('session', 'the school year, YYYY-YY', {
        schema: { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
        example: '2026-27',
        toFilter: matching('session', isSession, 'a session YYYY-YY, such as 2026-27'),
      }),
      parameter('term', 'halfyear or finalyear', {
        schema: { type: 'string', enum: ['halfyear', 'finalyear'] },
        example: 'halfyear',
        toFilter: matching(
          'term',
          (text) => text === 'halfyear' || text === 'finalyear',
          'halfyear or finalyear',
        ),
      }),
      parameter('admission_no', 'the admission number', {
        example: 'A-1001',
        toFilter: equals(['admission_no']),
      }),
    ],
  },
  // Report 4 is a read by POST, of the concessions in force today. By GET it is an ordinary collection; it
  // has a route of its own because a path with routes answers every other method with 405.
  { collection: 'fee_concession', methods: ['GET'], parameters: [] },
  {
    collection: 'fee_concession',
    methods: ['POST'],
    parameters: [
      {
        name: 'name.value',
        in: 'query',
        isRequired: true,
        description: 'The student ID: only concessions of this student that are in force today.',
        schema: { type: 'string' },
        example: 's-1',
        toFilter: concessionsInForce,
      },
    ],
  },
];

function parameter(
  name: string,
  description: string,
  options: {
    readonly schema?: Schema;
    readonly example: string;
    toFilter(text: string, name: string): Filter;
  },
): CollectionParameter {
  return {
    name,
    in: 'query',
    isRequired: false,
    description: `Only records of this: ${description}.`,
    schema: options.schema ?? { type: 'string' },
    example: options.example,
    toFilter: (text) => options.toFilter(text, name),
  };
}

function equals(path: Path): (text: string) => Filter {
  return (text) => ({ kind: 'looseEquals', path, text });
}

/** Refuses the empty text, which every text contains: a form with a blank field would get every record. */
function contains(field: string, expected: string): (text: string) => Filter {
  return (text) => {
    if (text === '') throw invalidParameter(field, text, expected);
    return { kind: 'contains', path: [field], text };
  };
}

function matching(field: string, is: (text: string) => boolean, expected: string): (text: string) => Filter {
  return (text) => {
    if (!is(text)) throw invalidParameter(field, text, expected);
    return { kind: 'looseEquals', path: [field], text };
  };
}

function on(path: Path): (text: string, name: string) => Filter {
  return (text, name) => {
    const word = DAY_WORDS.find((known) => known === text);
    if (word) return { kind: 'on', path, day: { word } };
    return { kind: 'on', path, day: parseDay(name, text, `a day YYYY-MM-DD, ${DAY_WORDS.join(', ')}`) };
  };
}

function from(path: Path): (text: string, name: string) => Filter {
  return (text, name) => ({ kind: 'greaterOrEqual', path, value: parseDay(name, text, 'a day YYYY-MM-DD') });
}

/** The parameter includes the end; the filter is half-open. */
function until(path: Path): (text: string, name: string) => Filter {
  return (text, name) => ({
    kind: 'lessThan',
    path,
    value: addDays(parseDay(name, text, 'a day YYYY-MM-DD'), 1),
  });
}

function parseDay(name: string, text: string, expected: string): string {
  if (isDay(text)) return text;
  throw invalidParameter(name, text, expected);
}
