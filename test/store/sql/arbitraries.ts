/**
 * Records and filters to try: values that meet each other often, and all that is hard to quote, compare or
 * find.
 */
import fc from 'fast-check';
import { ExactNumber, type JsonObject, type JsonValue } from '../../../src/base/json/json.js';
import type { Condition, Filter } from '../../../src/base/model/filter.js';
import type { Path } from '../../../src/base/model/path.js';

const CHARACTERS = [...'abAB15 %_\\"\'.*+?()[]{}^$|,;:#@=<>!-\n\té\u00c9हिन्दीक😀'];

const STRANGE_TEXTS = [
  '',
  '%',
  '_',
  'a%b',
  'a_b',
  '\\',
  'a\\b',
  '\\%',
  '"',
  "'",
  "a'b",
  "'; drop table records; --",
  'a"b',
  '$',
  '$.a',
  '@',
  '?(@)',
  '5',
  '5.0',
  '05',
  '-3',
  '1e2',
  'true',
  'false',
  'null',
  'today',
  'on2024-05-01',
  '#in2024-05',
  '2024-05',
  '2024-05-01',
  'Abc',
  'abc',
  'ABC',
  'ab',
  'हिन्दी',
  'हिन्दी शिक्षक',
  'É',
  'é',
  '😀',
  'a😀',
  '\u{10ffff}',
  '\ud7ff',
  '\ue000',
  'x,y',
  '*',
  '.*',
  '^a$',
  '(',
  '[',
  'a\nb',
  'N/A',
  ' ',
] as const;

/**
 * Around the borders of days and months in Kolkata and New York, the days the clocks change there included.
 */
const INSTANTS = [
  '2024-04-30T18:29:59.999Z',
  '2024-04-30T18:30:00.000Z',
  '2024-05-01T10:00:00.000Z',
  '2024-05-01T18:29:59.999Z',
  '2024-05-01T18:30:00.000Z',
  '2024-05-31T18:29:59.999Z',
  '2024-05-31T18:30:00.000Z',
  '2024-03-10T05:00:00.000Z',
  '2024-11-03T05:30:00.000Z',
  '2024-05-02T04:00:00.000Z',
  '2024-05-02T03:59:59.999Z',
] as const;

const DAYS = ['2024-04-30', '2024-05-01', '2024-05-02', '2024-05-31', '2024-03-10', '2024-11-03'] as const;
const MONTHS = ['2024-04', '2024-05', '2024-06', '2024-03', '2024-11'] as const;

/** The clock of the tests: in Kolkata it is 2 May, in New York 1 May. */
export const NOW = new Date('2024-05-01T19:00:00.000Z');

export const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...STRANGE_TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 6 }) },
);
const number = fc.constantFrom<number | ExactNumber>(
  0,
  5,
  -3,
  5.5,
  0.1,
  100,
  1e21,
  1e-7,
  new ExactNumber('12345678901234567890.123'),
  new ExactNumber('5.0'),
  new ExactNumber('-0.30'),
);
const instant = fc.constantFrom(...INSTANTS);
const day = fc.constantFrom(...DAYS);
const month = fc.constantFrom(...MONTHS);
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null), instant, day);
const reference = fc.record(
  { value: text, label: fc.oneof(text, fc.constant(null)) },
  { requiredKeys: ['value'] },
);

/** Lists in lists, objects in lists, empty ones. */
const anything: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'value', 'label', 'x-y', '$k', '0'), tie('value'), {
        maxKeys: 3,
      }),
    },
  ),
})).value;

/**
 * Mostly of the type, at times anything: old and imported data is like that. Digits in front of junk are left
 * out of times: those compare as text.
 */
function mostly(
  arbitrary: fc.Arbitrary<JsonValue>,
  junk: fc.Arbitrary<JsonValue> = anything,
): fc.Arbitrary<JsonValue> {
  return fc.oneof(
    { weight: 6, arbitrary },
    { weight: 1, arbitrary: junk },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

const noTime = fc.oneof(
  fc.constantFrom('N/A', '', 'zz', '-', 'हिन्दी'),
  number,
  fc.boolean(),
  fc.array(instant, { maxLength: 2 }),
  fc.constant({ a: 1 }),
);
const list = (element: fc.Arbitrary<JsonValue>) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: element },
      { weight: 1, arbitrary: fc.array(element, { maxLength: 2 }) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    { maxLength: 3 },
  );

function object(members: Record<string, fc.Arbitrary<JsonValue>>): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
}

/** The data of a record of the sample collection; undeclared fields beside the declared ones. */
export const data: fc.Arbitrary<JsonObject> = object({
  name: mostly(text, fc.oneof(anything, number, fc.boolean(), fc.array(text, { maxLength: 2 }))),
  code: mostly(text),
  amount: mostly(number),
  active: mostly(fc.boolean()),
  created_on: mostly(instant, noTime),
  day: mostly(day, noTime),
  month: mostly(month),
  person: mostly(reference),
  roles: mostly(list(text)),
  scores: mostly(list(number)),
  seen: mostly(list(instant), fc.oneof(noTime, instant)),
  people: mostly(list(reference)),
  address: mostly(object({ city: text, pin: number, tags: list(text), owner: reference })),
  lines: mostly(
    list(
      object({
        head: mostly(text),
        amount: mostly(number),
        when: mostly(instant, noTime),
        marks: mostly(list(number)),
        payer: mostly(reference),
        parts: mostly(list(object({ name: mostly(text) }))),
      }),
    ),
  ),
  blob: mostly(object({ a: anything, b: anything })),
  extra: anything,
  'x-y': anything,
});

const TEXT_PATHS: readonly Path[] = [
  ['name'],
  ['name'],
  ['name'],
  ['code'],
  ['name'],
  ['code'],
  ['person'],
  ['person', 'value'],
  ['person', 'label'],
  ['roles'],
  ['people'],
  ['people', 'value'],
  ['people', 'label'],
  ['address', 'city'],
  ['address', 'tags'],
  ['address', 'owner'],
  ['address', 'owner', 'label'],
  ['lines', 'head'],
  ['lines', 'payer'],
  ['lines', 'payer', 'label'],
  ['lines', 'parts', 'name'],
  ['month'],
  ['_id'],
];
const NUMBER_PATHS: readonly Path[] = [
  ['amount'],
  ['scores'],
  ['address', 'pin'],
  ['lines', 'amount'],
  ['lines', 'marks'],
];
const BOOLEAN_PATHS: readonly Path[] = [['active']];
const TIME_PATHS: readonly Path[] = [['created_on'], ['seen'], ['lines', 'when']];
const DAY_PATHS: readonly Path[] = [['day']];
const LOOSE_PATHS: readonly Path[] = [
  ['extra'],
  ['extra', 'a'],
  ['extra', 'a', 'b'],
  ['extra', 'value'],
  ['x-y'],
  ['x-y', '$k'],
  ['extra', '0'],
  ['blob', 'a'],
  ['blob', 'b', 'a'],
  ['missing'],
  ['name', 'value'],
  ['person', 'a'],
  ['lines', 'nothing'],
  ['address', 'more', 'a'],
];
const OBJECT_PATHS: readonly Path[] = [['address'], ['lines'], ['blob'], ['lines', 'parts']];

const equalsKinds = (
  path: fc.Arbitrary<Path>,
  value: fc.Arbitrary<string | number | boolean | ExactNumber>,
) => [
  fc.record({ kind: fc.constant('equals' as const), path, value }),
  fc.record({ kind: fc.constant('in' as const), path, values: fc.array(value, { maxLength: 3 }) }),
];

const compareKinds = (path: fc.Arbitrary<Path>, value: fc.Arbitrary<string | number | ExactNumber>) =>
  fc.record({
    kind: fc.constantFrom(
      'greaterThan' as const,
      'greaterOrEqual' as const,
      'lessThan' as const,
      'lessOrEqual' as const,
    ),
    path,
    value,
  });

/**
 * What is in many of the texts, and what `like`, a regular expression or a number in the place of text would
 * answer differently.
 */
const part = fc.oneof(
  fc.constantFrom(
    'a',
    'A',
    'b',
    '5',
    '0',
    '%',
    '_',
    '\\\\',
    '\\\\%',
    'a_',
    'a%',
    '"',
    '.',
    '*',
    '^',
    '(',
    'हि',
    'é',
    'É',
    'tru',
    '😀',
    '2024',
  ),
  text,
);

const textKinds = (path: fc.Arbitrary<Path>) =>
  fc.record(
    {
      kind: fc.constantFrom('startsWith' as const, 'contains' as const, 'equalsInsensitive' as const),
      path,
      text: part,
      isInsensitive: fc.boolean(),
    },
    { requiredKeys: ['kind', 'path', 'text'] },
  );

const looseKind = (path: fc.Arbitrary<Path>, operand: fc.Arbitrary<string>) =>
  fc.record(
    { kind: fc.constant('looseEquals' as const), path, text: operand, isInsensitive: fc.boolean() },
    { requiredKeys: ['kind', 'path', 'text'] },
  );

const word = fc.constantFrom('today' as const, 'yesterday' as const, 'daybeforeyesterday' as const);
const onKind = (path: fc.Arbitrary<Path>) =>
  fc.record({ kind: fc.constant('on' as const), path, day: fc.oneof(day, fc.record({ word })) });
const withinKind = (path: fc.Arbitrary<Path>) =>
  fc.record({ kind: fc.constant('within' as const), path, month });

const presence = (path: fc.Arbitrary<Path>) =>
  fc.record({ kind: fc.constantFrom('isNull' as const, 'exists' as const), path });

interface Paths {
  readonly texts: readonly Path[];
  readonly numbers: readonly Path[];
  readonly booleans: readonly Path[];
  readonly times: readonly Path[];
  readonly days: readonly Path[];
  readonly loose: readonly Path[];
  readonly objects: readonly Path[];
}

const numberText = fc.constantFrom('5', '5.0', '-3', '0.1', '1e2', '100', '0.10');

/** Conditions that fit the type at their path. */
function conditionOn(paths: Paths): fc.Arbitrary<Condition> {
  const from = (list: readonly Path[]) => fc.constantFrom(...list);
  const choices: fc.Arbitrary<Condition>[] = [];
  if (paths.texts.length > 0) {
    const path = from(paths.texts);
    const comparable = paths.texts.filter((one) => !REFERENCES.has(one.join('.')));
    choices.push(
      looseKind(path, text),
      textKinds(path),
      textKinds(path),
      ...equalsKinds(path, text),
      onKind(path),
      withinKind(path),
    );
    if (comparable.length > 0) choices.push(compareKinds(from(comparable), text));
  }
  if (paths.numbers.length > 0) {
    const path = from(paths.numbers);
    choices.push(looseKind(path, numberText), ...equalsKinds(path, number), compareKinds(path, number));
  }
  if (paths.booleans.length > 0) {
    const path = from(paths.booleans);
    choices.push(looseKind(path, fc.constantFrom('true', 'false')), ...equalsKinds(path, fc.boolean()));
  }
  if (paths.times.length > 0) {
    const path = from(paths.times);
    const time = fc.oneof(instant, day, fc.constant('2024-05-01T15:30:00+05:30'));
    choices.push(
      looseKind(path, time),
      ...equalsKinds(path, time),
      compareKinds(path, time),
      onKind(path),
      withinKind(path),
    );
  }
  if (paths.days.length > 0) {
    const path = from(paths.days);
    choices.push(
      looseKind(path, day),
      ...equalsKinds(path, day),
      compareKinds(path, day),
      onKind(path),
      withinKind(path),
    );
  }
  if (paths.loose.length > 0) {
    const path = from(paths.loose);
    choices.push(
      looseKind(path, fc.oneof(text, numberText)),
      textKinds(path),
      ...equalsKinds(path, fc.oneof(text, number, fc.boolean())),
      compareKinds(path, fc.oneof(text, number, day, instant)),
      onKind(path),
      withinKind(path),
    );
  }
  const everywhere = Object.values(paths).flat();
  choices.push(presence(from(everywhere)));
  return fc.oneof(...choices);
}

const REFERENCES: ReadonlySet<string> = new Set([
  'person',
  'people',
  'address.owner',
  'lines.payer',
  'payer',
  'chief',
  '',
]);
const NONE: Paths = { texts: [], numbers: [], booleans: [], times: [], days: [], loose: [], objects: [] };

const DECLARED: Paths = {
  texts: TEXT_PATHS,
  numbers: NUMBER_PATHS,
  booleans: BOOLEAN_PATHS,
  times: TIME_PATHS,
  days: DAY_PATHS,
  loose: LOOSE_PATHS,
  objects: OBJECT_PATHS,
};

const LINE: Paths = {
  ...NONE,
  texts: [['head'], ['payer'], ['payer', 'label'], ['parts', 'name']],
  numbers: [['amount'], ['marks']],
  times: [['when']],
  loose: [['nothing']],
};

function combined(condition: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  return fc.letrec<{ filter: Filter }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 3, arbitrary: condition },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('not' as const), filter: tie('filter') }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constantFrom('all' as const, 'any' as const),
          filters: fc.array(tie('filter'), { maxLength: 3 }),
        }),
      },
    ),
  })).filter;
}

function elementOf(path: Path, paths: Paths): fc.Arbitrary<Condition> {
  return fc.record({
    kind: fc.constant('element' as const),
    path: fc.constant(path),
    filter: combined(conditionOn(paths)),
  });
}

const SELF: readonly Path[] = [[]];
const element: fc.Arbitrary<Condition> = fc.oneof(
  elementOf(['lines'], LINE),
  elementOf(['lines', 'parts'], { ...NONE, texts: [['name']] }),
  elementOf(['roles'], { ...NONE, texts: SELF }),
  elementOf(['scores'], { ...NONE, numbers: SELF }),
  elementOf(['seen'], { ...NONE, times: SELF }),
  elementOf(['people'], { ...NONE, texts: [[], ['value'], ['label']] }),
  elementOf(['extra'], { ...NONE, loose: [[], ['a'], ['a', 'b']] }),
  elementOf(['name'], { ...NONE, texts: SELF }),
  fc.record({
    kind: fc.constant('element' as const),
    path: fc.constant<Path>(['lines']),
    filter: combined(elementOf(['parts'], { ...NONE, texts: [['name']] })),
  }),
);

/** Any filter that fits the sample collection. */
export const fittingFilter: fc.Arbitrary<Filter> = combined(
  fc.oneof({ weight: 5, arbitrary: conditionOn(DECLARED) }, { weight: 1, arbitrary: element }),
);

/** Filters of a collection that declares nothing, on the same fields. */
export const looseFilter: fc.Arbitrary<Filter> = combined(
  conditionOn({
    ...NONE,
    loose: Object.values(DECLARED)
      .flat()
      .filter((path) => path[0] !== '_id'),
  }),
);

/** Any filter at all, whether its operators fit or not. */
export const anyFilter: fc.Arbitrary<Filter> = combined(
  conditionOn({ ...NONE, loose: Object.values(DECLARED).flat() }),
);

/**
 * What the references of the sample collection point to: ids that stand in references, and people who have a
 * chief among them.
 */
export const people: fc.Arbitrary<readonly { readonly id: string; readonly data: JsonObject }[]> = fc
  .uniqueArray(text, { maxLength: 12 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.record({
          id: fc.constant(id),
          data: object({
            name: mostly(text),
            age: mostly(number),
            active: mostly(fc.boolean()),
            chief: mostly(fc.record({ value: fc.oneof(fc.constantFrom(...ids), text) })),
          }),
        }),
      ),
    ),
  );

const PERSON: Paths = {
  ...NONE,
  texts: [['name'], ['_id'], ['chief']],
  numbers: [['age']],
  booleans: [['active']],
};

function pointingTo(path: Path, filter: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  return fc.record({
    kind: fc.constant('record' as const),
    path: fc.constant(path),
    collection: fc.constant('pltf_user'),
    filter,
  });
}

const ofPerson = combined(
  fc.oneof(
    { weight: 3, arbitrary: conditionOn(PERSON) },
    { weight: 1, arbitrary: pointingTo(['chief'], combined(conditionOn(PERSON))) },
  ),
);
const pointing = (...paths: readonly Path[]) => fc.oneof(...paths.map((path) => pointingTo(path, ofPerson)));

const elementPointing = (path: Path, paths: Paths, ...references: readonly Path[]): fc.Arbitrary<Filter> =>
  fc.record({
    kind: fc.constant('element' as const),
    path: fc.constant(path),
    filter: combined(fc.oneof(conditionOn(paths), pointing(...references))),
  });

/** Filters with conditions on the records that references point to, wherever those are. */
export const recordFilter: fc.Arbitrary<Filter> = combined(
  fc.oneof(
    {
      weight: 3,
      arbitrary: pointing(
        ['person'],
        ['people'],
        ['address', 'owner'],
        ['lines', 'payer'],
        ['extra'],
        ['extra', 'a'],
      ),
    },
    { weight: 1, arbitrary: conditionOn(DECLARED) },
    { weight: 1, arbitrary: elementPointing(['people'], { ...NONE, texts: [[], ['label']] }, []) },
    { weight: 1, arbitrary: elementPointing(['lines'], LINE, ['payer']) },
    { weight: 1, arbitrary: elementPointing(['extra'], { ...NONE, loose: [[], ['a']] }, [], ['a']) },
  ),
);
