/** PostGraphile 5, with functions of the database where it leaves that to its users. */
import type { Mark } from '../questions.js';
import { askGraphql, instantsOf, markAsRow, type Peer } from './peer.js';

const RECORD =
  'rowId created student studentLabel class section status remark markedBy markedByLabel createdOn';
const STUDENT =
  'rowId sequence name class section rollNo gender dob fatherName motherName guardianPhone address ' +
  'session admittedOn status';

const ONE = `query One($id: String!) { attendanceByRowId(rowId: $id) { ${RECORD} } }`;
const LIST = `query List($class: String!, $from: Datetime!, $before: Datetime!) {
  allAttendances(
    filter: {class: {equalTo: $class}, created: {greaterThanOrEqualTo: $from, lessThan: $before}}
    first: 100
  ) {
    nodes { rowId created student studentLabel class section status markedBy markedByLabel }
  }
}`;
const CONTAINS = `query Contains($text: String!) {
  allRegistrations(filter: {name: {includesInsensitive: $text}}, first: 20) { nodes { ${STUDENT} } }
}`;
const COLLECTION = `query Collection($from: Date!, $to: Date!) {
  feeCollection(from: $from, to: $to) { nodes { day feeHead amount } }
}`;
const CREATE = `mutation Create($attendance: AttendanceInput!) {
  createAttendance(input: {attendance: $attendance}) { attendance { ${RECORD} } }
}`;
const STREAM = `query Stream($count: Int!) { allAttendances(first: $count) { nodes { ${RECORD} } } }`;
const CREATE_MANY = `mutation CreateMany($marks: JSON!) { createMarks(input: {marks: $marks}) { result } }`;

export const postgraphile: Peer = {
  name: 'postgraphile',
  server: 'server.js',
  dialect: {
    one: (id) => askGraphql(ONE, { id }),
    list: (asked) => {
      const { from, before } = instantsOf({ from: asked.day, to: asked.day });
      return askGraphql(LIST, { class: asked.class, from, before });
    },
    contains: (text) => askGraphql(CONTAINS, { text }),
    collection: (range) => askGraphql(COLLECTION, range),
    create: (mark) => askGraphql(CREATE, { attendance: markAsRow(mark) }),
    stream: (count) => askGraphql(STREAM, { count }),
    createMany: (marks) => askGraphql(CREATE_MANY, { marks: marks.map(markAsColumns) }),
  },
};

function markAsColumns(mark: Mark) {
  const { markedBy, ...columns } = markAsRow(mark);
  return { ...columns, marked_by: markedBy };
}
