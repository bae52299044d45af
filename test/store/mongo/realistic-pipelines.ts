/** What schools ask of their records, as their scripts would write it. */
// biome-ignore-all lint/suspicious/noThenProperty: Mongo's operators have such operands
import type { JsonObject } from '../../../src/base/json/json.js';

export interface RealisticPipeline {
  readonly name: string;
  readonly collection: string;
  readonly stages: readonly JsonObject[];
}

const MONTH = { $substrCP: ['$date', 0, 7] };

export const REALISTIC_PIPELINES: readonly RealisticPipeline[] = [
  {
    name: 'fee collected by head in a month',
    collection: 'fee_receipt',
    stages: [
      { $match: { date: { $gte: '2026-04-01', $lt: '2026-05-01' }, status: { $ne: 'rolled_back' } } },
      { $unwind: '$lines' },
      {
        $group: { _id: '$lines.fee_head', amount: { $sum: '$lines.amount' }, fine: { $sum: '$lines.fine' } },
      },
      { $sort: { amount: -1 } },
    ],
  },
  {
    name: 'collection of each day by payment type',
    collection: 'fee_receipt',
    stages: [
      { $match: { session: '2026-27' } },
      {
        $group: {
          _id: {
            day: { $dateToString: { format: '%Y-%m-%d', date: '$date', timezone: 'Asia/Kolkata' } },
            type: '$payment_type',
          },
          total: { $sum: '$total' },
          receipts: { $sum: 1 },
        },
      },
      { $sort: { '_id.day': 1, '_id.type': 1 } },
    ],
  },
  {
    name: 'the ten largest receipts',
    collection: 'fee_receipt',
    stages: [
      { $sort: { total: -1 } },
      { $limit: 10 },
      { $project: { receipt_no: 1, total: 1, 'student.label': 1 } },
    ],
  },
  {
    name: 'receipts that are not the sum of their lines',
    collection: 'fee_receipt',
    stages: [
      { $addFields: { sum: { $add: [{ $sum: '$lines.amount' }, { $sum: '$lines.fine' }] } } },
      { $match: { $expr: { $ne: ['$sum', '$total'] } } },
      { $project: { receipt_no: 1, total: 1, sum: 1 } },
    ],
  },
  {
    name: 'rolled back receipts by month and reason',
    collection: 'fee_receipt',
    stages: [
      { $match: { status: 'rolled_back' } },
      {
        $group: {
          _id: { month: MONTH, reason: '$rollback_reason' },
          n: { $sum: 1 },
          amount: { $sum: '$total' },
        },
      },
      { $sort: { n: -1 } },
    ],
  },
  {
    name: 'receipts by size',
    collection: 'fee_receipt',
    stages: [
      {
        $bucket: {
          groupBy: '$total',
          boundaries: [0, 1000, 5000, 10000],
          default: 'more',
          output: { n: { $sum: 1 }, total: { $sum: '$total' } },
        },
      },
    ],
  },
  {
    name: 'a dashboard of fees in one call',
    collection: 'fee_receipt',
    stages: [
      { $match: { session: '2026-27' } },
      {
        $facet: {
          total: [{ $group: { _id: null, amount: { $sum: '$total' } } }],
          byType: [{ $sortByCount: '$payment_type' }],
          latest: [{ $sort: { date: -1 } }, { $limit: 5 }, { $project: { receipt_no: 1, total: 1 } }],
        },
      },
    ],
  },
  {
    name: 'what each student owes of what is due',
    collection: 'fee_due',
    stages: [
      { $match: { session: '2026-27', cancelled_on: null } },
      { $group: { _id: '$student.value', due: { $sum: '$amount' }, months: { $addToSet: '$month' } } },
      { $sort: { due: -1 } },
      { $limit: 50 },
    ],
  },
  {
    name: 'dues with the guardian’s phone',
    collection: 'fee_due',
    stages: [
      { $match: { month: '2026-04', cancelled_on: null } },
      { $group: { _id: '$student.value', due: { $sum: '$amount' } } },
      { $lookup: { from: 'registration', localField: '_id', foreignField: '_id', as: 'student' } },
      { $unwind: '$student' },
      { $project: { due: 1, name: '$student.name', phone: '$student.guardian_phone' } },
    ],
  },
  {
    name: 'classes by what is due',
    collection: 'fee_due',
    stages: [
      { $group: { _id: '$class', due: { $sum: '$amount' }, most: { $max: '$amount' } } },
      { $match: { due: { $gt: 100000 } } },
      { $sort: { _id: 1 } },
    ],
  },
  {
    name: 'attendance of a class, day by day',
    collection: 'attendance',
    stages: [
      { $match: { class: '5', section: 'A', created: { $gte: '2026-04-01', $lt: '2026-05-01' } } },
      {
        $group: {
          _id: { $dateToString: { format: '%d-%m-%Y', date: '$created', timezone: '+05:30' } },
          present: { $sum: { $cond: [{ $eq: ['$status', 'present'] }, 1, 0] } },
          of: { $sum: 1 },
        },
      },
      {
        $project: {
          present: 1,
          of: 1,
          percent: { $round: [{ $multiply: [100, { $divide: ['$present', '$of'] }] }, 1] },
        },
      },
      { $sort: { _id: 1 } },
    ],
  },
  {
    name: 'students absent more than three times',
    collection: 'attendance',
    stages: [
      { $match: { status: 'absent' } },
      {
        $group: {
          _id: '$student.value',
          name: { $first: '$student.label' },
          days: { $push: '$created' },
          n: { $sum: 1 },
        },
      },
      { $match: { n: { $gt: 3 } } },
      { $sort: { n: -1 } },
    ],
  },
  {
    name: 'attendance by weekday',
    collection: 'attendance',
    stages: [
      { $group: { _id: { $isoDayOfWeek: { date: '$created', timezone: 'Asia/Kolkata' } }, n: { $sum: 1 } } },
      { $sort: { _id: 1 } },
    ],
  },
  {
    name: 'streaks of absence, by a fold of days',
    collection: 'attendance',
    stages: [
      { $match: { status: 'absent' } },
      { $sort: { created: 1 } },
      { $group: { _id: '$student.value', days: { $push: '$created' } } },
      {
        $project: {
          text: {
            $reduce: { input: '$days', initialValue: '', in: { $concat: ['$$value', '$$this', ' '] } },
          },
        },
      },
    ],
  },
  {
    name: 'children of each route and class',
    collection: 'registration',
    stages: [
      { $match: { route: { $exists: true } } },
      { $group: { _id: { route: '$route', class: '$class' }, n: { $sum: 1 } } },
      { $sort: { n: -1 } },
    ],
  },
  {
    name: 'strength by class and gender',
    collection: 'registration',
    stages: [
      { $match: { status: 'active' } },
      {
        $group: {
          _id: '$class',
          boys: { $sum: { $cond: { if: { $eq: ['$gender', 'male'] }, then: 1, else: 0 } } },
          girls: { $sum: { $cond: { if: { $eq: ['$gender', 'female'] }, then: 1, else: 0 } } },
        },
      },
      { $addFields: { all: { $add: ['$boys', '$girls'] } } },
      { $sort: { _id: 1 } },
    ],
  },
  {
    name: 'birthdays of a month',
    collection: 'registration',
    stages: [
      { $match: { $expr: { $eq: [{ $month: '$dob' }, 4] } } },
      { $project: { name: 1, day: { $dayOfMonth: '$dob' } } },
      { $sort: { day: 1 } },
    ],
  },
  {
    name: 'brothers and sisters: children of one phone',
    collection: 'registration',
    stages: [
      { $group: { _id: '$guardian_phone', children: { $push: '$name' }, n: { $sum: 1 } } },
      { $match: { n: { $gte: 2 } } },
      { $count: 'families' },
    ],
  },
  {
    name: 'names that need a look',
    collection: 'registration',
    stages: [
      { $match: { name: { $regex: '^\\s|\\s$|\\d' } } },
      { $project: { name: 1, right: { $trim: { input: '$name' } } } },
    ],
  },
  {
    name: 'a page of a class list',
    collection: 'registration',
    stages: [
      { $match: { class: '5', section: { $in: ['A', 'B'] } } },
      { $sort: { section: 1, roll_no: 1 } },
      { $skip: 20 },
      { $limit: 20 },
      { $unset: ['address', 'email'] },
    ],
  },
  {
    name: 'ten children by lot',
    collection: 'registration',
    stages: [{ $match: { class: '8' } }, { $sample: { size: 10 } }, { $project: { name: 1 } }],
  },
  {
    name: 'averages of each subject',
    collection: 'result',
    stages: [
      { $match: { session: '2026-27', term: 'halfyear' } },
      { $unwind: '$subjects' },
      { $unwind: '$subjects.components' },
      {
        $group: {
          _id: '$subjects.subject',
          mean: { $avg: '$subjects.components.marks' },
          least: { $min: '$subjects.components.marks' },
        },
      },
    ],
  },
  {
    name: 'the total of each student, ranked',
    collection: 'result',
    stages: [
      { $match: { term: 'finalyear', published: true } },
      { $unwind: '$subjects' },
      { $group: { _id: '$admission_no', total: { $sum: { $sum: '$subjects.components.marks' } } } },
      { $sort: { total: -1 } },
      { $limit: 3 },
    ],
  },
  {
    name: 'remarks in a few words',
    collection: 'result',
    stages: [
      {
        $project: {
          first: { $arrayElemAt: [{ $split: ['$remarks', ' '] }, 0] },
          length: { $strLenCP: { $ifNull: ['$remarks', ''] } },
        },
      },
    ],
  },
  {
    name: 'each subject as a field of its own',
    collection: 'result',
    stages: [
      { $match: { class: '5' } },
      {
        $project: {
          marks: {
            $arrayToObject: {
              $map: {
                input: '$subjects',
                as: 's',
                in: { k: '$$s.subject', v: { $sum: '$$s.components.marks' } },
              },
            },
          },
        },
      },
    ],
  },
  {
    name: 'messages by state, and their cost',
    collection: 'sms_log',
    stages: [
      { $match: { created_on: { $gte: '2026-04-01' } } },
      { $group: { _id: '$status', n: { $sum: 1 }, segments: { $sum: '$segments' } } },
      { $addFields: { cost: { $multiply: ['$segments', 0.15] } } },
    ],
  },
  {
    name: 'numbers that never got a message',
    collection: 'sms_log',
    stages: [
      { $match: { status: 'failed' } },
      { $group: { _id: '$to', errors: { $addToSet: '$error' }, last: { $max: '$created_on' } } },
      { $replaceRoot: { newRoot: { phone: '$_id', errors: '$errors', last: '$last' } } },
    ],
  },
  {
    name: 'teachers and their days of leave',
    collection: 'pltf_user',
    stages: [
      { $match: { active: true, roles: 'teacher' } },
      {
        $lookup: {
          from: 'leave_request',
          let: { id: '$_id' },
          pipeline: [
            { $match: { $expr: { $eq: ['$name.value', '$$id'] } } },
            { $sort: { from: 1 } },
            { $project: { from: 1, to: 1 } },
          ],
          as: 'leave',
        },
      },
      { $project: { name: 1, requests: { $size: '$leave' }, leave: 1 } },
    ],
  },
  {
    name: 'median fee of a class',
    collection: 'fee_due',
    stages: [
      { $match: { session: '2026-27' } },
      { $group: { _id: '$class', median: { $median: { input: '$amount', method: 'approximate' } } } },
    ],
  },
  {
    name: 'sections of each class, sorted by room, then those who teach there',
    collection: 'class',
    stages: [
      { $project: { name: 1, sections: { $sortArray: { input: '$sections', sortBy: { room: 1 } } } } },
      {
        $lookup: {
          from: 'pltf_user',
          localField: 'sections.class_teacher.value',
          foreignField: '_id',
          as: 'teachers',
        },
      },
      { $addFields: { teachers: '$teachers.name' } },
    ],
  },
];
