/**
 * What is measured: each workload as a request to the gateway and as the statement the gateway runs for it.
 */

import { isJsonObject, parseExactJson } from '../../src/json.js';
import { parseOquery } from '../../src/languages/oquery.js';
import type { Path } from '../../src/model/path.js';
import { queryOf, type RecordQuery } from '../../src/model/record-query.js';
import { RecordStore } from '../../src/store/record-store.js';
import type { BareStatement } from './bare-server.js';
import { FRESH_ID } from './fresh-id.js';
import type { Workload } from './load.js';
import type { OperationStatements } from './operation-statements.js';
import type { BenchSchool } from './school.js';
import { recordStatements } from './statements.js';

export interface Bench {
  readonly name: string;
  readonly request: Workload;
  readonly statement: BareStatement;
  /** A whole collection, read once to its end. */
  readonly isWhole?: boolean;
  /** One after the other, because one keeps the database busy for long. */
  readonly isAlone?: boolean;
}

const FIELDS = ['created', 'student', 'class', 'section', 'status', 'marked_by'];
const GRAPHQL_FIELDS = 'id created class section status remark';

export async function listBenches(
  school: BenchSchool,
  operations: OperationStatements,
): Promise<readonly Bench[]> {
  const { services, scope, key } = school;
  const database = recordStatements(services.database);
  const store = new RecordStore({
    database: database.database,
    catalog: services.catalog,
    topDomain: () => services.domains.top(),
  });
  const headers = { authorization: `Bearer ${key}` };
  const posted = { ...headers, 'content-type': 'application/json' };
  const stream = (query: RecordQuery) =>
    database.record(() => drain(store.find(scope, query).stream('json')));
  const read = (path: string): Workload => ({ path, headers });
  const graphql = (query: string): Workload => ({
    method: 'POST',
    path: '/graphql',
    headers: posted,
    body: JSON.stringify({ query }),
  });

  const ofOperation = async (name: string, query: string): Promise<Bench> => ({
    name,
    request: graphql(query),
    statement: await operations.record(query),
  });

  const day = await busyDay(school);
  const list: RecordQuery = {
    ...queryOf('attendance'),
    filter: parseOquery(`class=5,created=on${day}`),
    projection: FIELDS.map((field): Path => [field]),
    limit: 100,
  };
  const contains: RecordQuery = { ...queryOf('registration'), filter: parseOquery('name=*ar'), limit: 20 };
  const { id } = await firstRecord(school);
  const task = {
    name: 'Repair the projector of class 5 A',
    amount: 1250.5,
    manager: { value: 'usr-teacher', label: 'Kavita Joshi' },
  };
  const oneStatement = await database.record(() => store.get(scope, 'attendance', id));
  const listStatement = await stream(list);

  return [
    { name: 'rest-one', request: read(`/o/recs/attendance/${id}`), statement: oneStatement },
    {
      name: 'rest-list',
      request: read(
        `/o/recs/attendance?stream=true&oquery=class=5,created=on${day}&project=${FIELDS.join(',')}&limit=100`,
      ),
      statement: { ...listStatement, kind: 'rows' },
    },
    {
      name: 'rest-contains',
      request: read('/o/recs/registration?stream=true&oquery=name=*ar&limit=20'),
      statement: { ...(await stream(contains)), kind: 'rows' },
    },
    {
      name: 'rest-create',
      request: { method: 'POST', path: '/o/task', headers: posted, body: JSON.stringify(task) },
      statement: await database.record(() => store.create(scope, 'task', [{ _id: FRESH_ID, ...task }])),
    },
    await ofOperation(
      'graphql-list',
      `{ attendanceRecords(first: 100, oquery: "class=5,created=on${day}") { nodes { ${GRAPHQL_FIELDS} } } }`,
    ),
    await ofOperation(
      'graphql-list-reference',
      `{ attendanceRecords(first: 100, oquery: "class=5,created=on${day}") { nodes { ${GRAPHQL_FIELDS} student { record { name } } } } }`,
    ),
    await ofOperation('graphql-one', `{ attendanceRecord(id: "${id}") { ${GRAPHQL_FIELDS} } }`),
    {
      name: 'graphql-create',
      request: graphql(createTask('')),
      statement: await operations.record(createTask(`id: "${FRESH_ID}2", `)),
    },
    {
      ...(await ofOperation(
        'graphql-aggregate',
        '{ attendanceRecordsAggregate(groupBy: [CLASS, STATUS]) { key { class status } count } }',
      )),
      isAlone: true,
    },
    {
      name: 'rest-stream',
      request: read('/o/recs/attendance?stream=true'),
      statement: await stream(queryOf('attendance')),
      isWhole: true,
    },
  ];
}

function createTask(id: string): string {
  return `mutation { createTask(data: { ${id}name: "Repair the projector", amount: "1250.50" }) { id name } }`;
}

async function drain(chunks: AsyncIterable<string>): Promise<void> {
  for await (const _chunk of chunks);
}

async function firstRecord({ services, scope }: BenchSchool): Promise<{ id: string }> {
  const { records } = await services.store.find(scope, { ...queryOf('attendance'), limit: 1 }).page();
  const [record] = records;
  if (!record) throw new Error('the school has no attendance');
  return record;
}

/** A school day with marks. */
async function busyDay({ services, scope }: BenchSchool): Promise<string> {
  const query: RecordQuery = {
    ...queryOf('attendance'),
    sort: [{ path: ['created'], direction: 'descending' }],
    projection: [['created']],
    limit: 1,
  };
  const { records } = await services.store.find(scope, query).page();
  const last = parseExactJson(records[0]?.json ?? 'null');
  if (!isJsonObject(last) || typeof last.created !== 'string')
    throw new Error('the school has no attendance');
  return last.created.slice(0, 10);
}
