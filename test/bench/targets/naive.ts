/** Apollo Server, TypeGraphQL and Prisma, put together as tutorials do. */
import { askGraphql, instantsOf, markAsRow, type Peer } from './peer.js';

const RECORD = 'id created student studentLabel class section status remark markedBy markedByLabel';
const STUDENT =
  'id sequence name class section rollNo gender dob fatherName motherName guardianPhone address ' +
  'session admittedOn status';

const ONE = `query One($id: ID!) { attendance(id: $id) { ${RECORD} } }`;
const LIST = `query List($class: String!, $from: DateTimeISO!, $before: DateTimeISO!) {
  attendances(class: $class, from: $from, before: $before, first: 100) {
    id created student studentLabel class section status markedBy markedByLabel
  }
}`;
const CONTAINS = `query Contains($text: String!) { registrations(contains: $text, first: 20) { ${STUDENT} } }`;
const COLLECTION = `query Collection($from: DateTimeISO!, $before: DateTimeISO!) {
  collection(from: $from, before: $before) { day feeHead amount }
}`;
const CREATE = `mutation Create($data: NewAttendance!) { createAttendance(data: $data) { ${RECORD} } }`;
const STREAM = `query Stream($count: Int!) { attendances(first: $count) { ${RECORD} } }`;
const CREATE_MANY = `mutation CreateMany($data: [NewAttendance!]!) { createAttendances(data: $data) }`;

export const naive: Peer = {
  name: 'naive',
  server: 'server.ts',
  prepare: ['npx', 'prisma', 'generate', '--no-hints'],
  dialect: {
    one: (id) => askGraphql(ONE, { id }),
    list: (asked) =>
      askGraphql(LIST, { class: asked.class, ...instantsOf({ from: asked.day, to: asked.day }) }),
    contains: (text) => askGraphql(CONTAINS, { text }),
    collection: (range) => askGraphql(COLLECTION, instantsOf(range)),
    create: (mark) => askGraphql(CREATE, { data: markAsRow(mark) }),
    stream: (count) => askGraphql(STREAM, { count }),
    createMany: (marks) => askGraphql(CREATE_MANY, { data: marks.map(markAsRow) }),
  },
};
