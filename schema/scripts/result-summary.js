/*
 * Results at a glance
 * The average of each class in a term, the best first: run with { "session": "2026-27", "term": "halfyear" }.
 *
 * Settings: { "roles": ["teacher"], "serviceRoles": ["admin"] }
 */
// @query classResults(session: String!, term: String!): [ClassResult!]!
// @type ClassResult { class: String!, students: Int!, percent: Float }
// @cost 50
export default async ({ session, term }) =>
  await platform.aggregate('result', [
    { $match: { session, term } },
    { $unwind: '$subjects' },
    { $unwind: '$subjects.components' },
    { $match: { 'subjects.components.state': 'scored' } },
    {
      $group: {
        _id: '$class',
        marks: { $sum: '$subjects.components.marks' },
        max: { $sum: '$subjects.components.max' },
        students: { $addToSet: '$admission_no' },
      },
    },
    {
      $project: {
        _id: 0,
        class: '$_id',
        students: { $size: '$students' },
        percent: { $round: [{ $multiply: [{ $divide: ['$marks', '$max'] }, 100] }, 1] },
      },
    },
    { $sort: { percent: -1, class: 1 } },
  ]);
