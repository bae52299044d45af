/** What MongoDB documents of operators: pipelines over documents, and their results. */
// biome-ignore-all lint/suspicious/noThenProperty: Mongo's operators have such operands
import type { JsonObject, JsonValue } from '../../../src/base/json/json.js';

interface Fact {
  readonly pipeline: readonly JsonObject[];
  readonly docs?: readonly JsonObject[];
  readonly want: readonly JsonValue[];
}

function is(expression: JsonValue, r: JsonValue): Fact {
  return { pipeline: [{ $project: { r: expression } }], want: [{ r }] };
}

function grouped(accumulator: JsonObject, values: readonly JsonValue[], r: JsonValue): Fact {
  return {
    pipeline: [{ $group: { _id: null, r: accumulator } }],
    docs: values.map((v) => ({ v })),
    want: [{ _id: null, r }],
  };
}

function found(query: JsonObject, values: readonly JsonValue[], want: readonly JsonValue[]): Fact {
  return {
    pipeline: [{ $match: query }],
    docs: values.map((a) => ({ a })),
    want: want.map((a) => ({ a })),
  };
}

const at = (text: string) => `${text}T12:00:00.000Z`;

export const FACTS: readonly Fact[] = [
  is({ $toInt: '12' }, 12),
  is({ $toLong: '-9000000000' }, -9_000_000_000),
  is({ $toDouble: '1.5e3' }, 1500),
  is({ $toDecimal: '.25' }, 0.25),
  is({ $toBool: 'false' }, true),
  is({ $toBool: 0 }, false),
  is({ $toString: true }, 'true'),
  is({ $toDate: 0 }, '1970-01-01T00:00:00.000Z'),
  is({ $toDate: '2026-04-01' }, '2026-04-01T00:00:00.000Z'),
  is({ $type: '$nope' }, 'missing'),
  is({ $isNumber: 1 }, true),
  is({ $isArray: [[1]] }, true),
  is({ $add: [0.1, 0.2] }, 0.3),
  is({ $divide: [1, 3] }, 1 / 3),
  is({ $round: [1232, null] }, null),
  is({ $round: [2.5] }, 2),
  is({ $sqrt: -1 }, null),
  is({ $toUpper: 'aé' }, 'Aé'),
  is({ $substr: ['हिन्दी', 0, 3] }, 'ह'),
  is({ $split: ['', ','] }, ['']),
  is({ $split: ['a', '$nope'] }, null),
  is({ $replaceAll: { input: 'aba', find: 'a', replacement: '\\1' } }, '\\1b\\1'),
  is({ $regexMatch: { input: 'Banana', regex: { $regex: 'banana', $options: 'i' } } }, true),
  is({ $not: [''] }, false),
  is({ $eq: ['$nope', null] }, false),
  is({ $in: ['$nope', [null]] }, false),
  is(
    {
      $lt: [
        [1, 2, 3, 4],
        [1, 2, 3, 3, 5],
      ],
    },
    false,
  ),
  is({ $gt: [{ a: 2 }, { a: 1, b: 1 }] }, true),
  is({ $max: [[[9], [1, 1]]] }, [9]),
  is({ $switch: { branches: [{ case: false, then: 1 }], default: 2 } }, 2),
  is({ $reverseArray: [[1, 2, 3]] }, [3, 2, 1]),
  is({ $arrayToObject: [[{ k: 'a', v: 1 }]] }, { a: 1 }),
  is({ $stdDevPop: [[1, 3]] }, 1),
  is({ $stdDevSamp: [0, 2, 4] }, 2),
  is({ $indexOfArray: [[1, 2, 345, 5, 100, 90, 11, 50, 234], 50, 7, 7] }, -1),
  is({ $maxN: { input: [1, [2], null], n: 1 } }, [[2]]),
  is({ $filter: { input: [1, 2, 3], cond: { $gt: ['$$this', 1] }, limit: 1 } }, [2]),
  is(
    { $reduce: { input: [1, 2], initialValue: [], in: { $concatArrays: [['$$this'], '$$value'] } } },
    [2, 1],
  ),
  is({ $sortArray: { input: [{ a: 2 }, { a: 1 }, {}], sortBy: { a: -1 } } }, [{ a: 2 }, { a: 1 }, {}]),
  is({ $range: [3, 0, -2] }, [3, 1]),
  is({ $dateAdd: { startDate: at('2026-01-31'), unit: 'month', amount: 1 } }, at('2026-02-28')),
  is({ $dateAdd: { startDate: at('2024-02-29'), unit: 'year', amount: 1 } }, at('2025-02-28')),
  is({ $dateAdd: { startDate: at('2026-11-30'), unit: 'quarter', amount: 1 } }, at('2027-02-28')),
  is({ $dateSubtract: { startDate: at('2026-03-31'), unit: 'month', amount: 1 } }, at('2026-02-28')),
  is(
    { $dateAdd: { startDate: at('2026-03-28'), unit: 'day', amount: 1, timezone: 'Europe/Berlin' } },
    '2026-03-29T11:00:00.000Z',
  ),
  is(
    { $dateAdd: { startDate: at('2026-03-28'), unit: 'hour', amount: 24, timezone: 'Europe/Berlin' } },
    at('2026-03-29'),
  ),
  is({ $dateFromParts: { isoWeekYear: 2023, isoWeek: 12, isoDayOfWeek: 2 } }, '2023-03-21T00:00:00.000Z'),
  is({ $dateFromParts: { year: 2026, month: 14, day: 0, timezone: 'GMT' } }, '2027-01-31T00:00:00.000Z'),
  is(
    { $dateFromString: { dateString: '28/02/2026', format: '%d/%m/%Y', timezone: 'Asia/Kolkata' } },
    '2026-02-27T18:30:00.000Z',
  ),
  is({ $dateFromString: { dateString: '31/02/2026', format: '%d/%m/%Y', onError: 'no day' } }, 'no day'),
  is(
    { $dateDiff: { startDate: at('2026-01-31'), endDate: at('2026-02-01'), unit: 'month', timezone: 'UTC' } },
    1,
  ),
  is(
    { $dateTrunc: { date: at('2026-04-01'), unit: 'week', startOfWeek: 'mon' } },
    '2026-03-30T00:00:00.000Z',
  ),
  is(
    { $dateToParts: { date: at('2026-04-01'), timezone: 'GMT' } },
    {
      ...{ year: 2026, month: 4, day: 1, hour: 12, minute: 0, second: 0, millisecond: 0 },
    },
  ),
  is({ $year: { date: at('2026-04-01'), timezone: null } }, null),
  is({ $millisecond: '2026-04-01T00:00:01.250Z' }, 250),
  is({ $week: '2026-01-04' }, 1),
  grouped({ $sum: '$v' }, [1, 'x', 2], 3),
  grouped({ $avg: '$v' }, [1, 2], 1.5),
  grouped({ $min: '$v' }, ['a', 1, null], 1),
  grouped({ $max: '$v' }, ['a', 1, null], 'a'),
  grouped({ $first: '$v' }, [3, 1], 3),
  grouped({ $last: '$v' }, [3, 1], 1),
  grouped({ $push: '$v' }, [3, 1], [3, 1]),
  grouped({ $addToSet: '$v' }, [1, 1], [1]),
  grouped({ $count: {} }, [1, 1], 2),
  grouped({ $median: { input: '$v', method: 'approximate' } }, [4, 1, 2, 3], 2),
  grouped({ $stdDevPop: '$v' }, [1, 3], 1),
  grouped({ $stdDevSamp: '$v' }, [0, 2, 4], 2),
  found({ a: { $elemMatch: {} } }, [[1, [18]], [1]], [[1, [18]]]),
  found({ a: { $elemMatch: { b: null } } }, [[1, [18]], [1]], [[1, [18]]]),
  found({ a: { $elemMatch: { b: { $exists: false } } } }, [[[18]], [{ b: 1 }]], [[[18]]]),
  found({ a: { $elemMatch: { 0: 100 } } }, [[[100, 200, 300]], [[5]]], [[[100, 200, 300]]]),
  {
    pipeline: [{ $set: { 'a.b': 1, c: { d: 2 } } }],
    docs: [{ a: { x: 1 }, c: { y: 1 } }],
    want: [{ a: { x: 1, b: 1 }, c: { y: 1, d: 2 } }],
  },
];
