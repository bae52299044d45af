/**
 * The gateway as it is installed: `campus start` of `dist/`, with its defaults. The credential of every
 * request is checked, requests are counted against a limit that is never reached, and the log goes to a file.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialect, Mark } from '../questions.js';
import type { Target, TargetOptions } from './target.js';

const SETTINGS: Readonly<Record<string, string>> = {
  PORT: '0',
  RATE_LIMIT_PER_MINUTE: '1000000000',
};

export interface GatewayOptions extends TargetOptions {
  /** What this one is told beside. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Of its log, where several run. */
  readonly name?: string;
}

/** One process, asked in two ways. */
export async function startGateway({
  databaseUrl,
  keys,
  directory,
  poolSize,
  workers,
  settings,
  name = 'gateway',
}: GatewayOptions): Promise<readonly Target[]> {
  const logFile = path.join(directory, `${name}.log`);
  const log = await open(logFile, 'w');
  const child = spawn(process.execPath, ['dist/main.js', 'start'], {
    env: {
      ...process.env,
      ...SETTINGS,
      ...settings,
      POOL_SIZE: String(poolSize),
      WORKERS: String(workers),
      DATABASE_URL: databaseUrl,
    },
    stdio: ['ignore', log.fd, 'inherit'],
  });
  const ended = once(child, 'exit');
  const killWithUs = () => void child.kill('SIGTERM');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  const url = await Promise.race([
    addressIn(logFile),
    ended.then(() => {
      throw new Error('the gateway ended before it listened');
    }),
  ]);
  let asked = 0;
  const headers = () => ({ Authorization: `Bearer ${keys[asked++ % keys.length]}` });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await log.close();
  };
  let stopped: Promise<void> | undefined;
  const shared = {
    url,
    pid: child.pid ?? 0,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
  return [
    { ...shared, name: 'rest', dialect: restDialect(headers) },
    { ...shared, name: 'graphql', dialect: graphqlDialect(headers) },
  ];
}

/** The log tells it, in a line of JSON, once the gateway listens. */
async function addressIn(logFile: string): Promise<string> {
  for (;;) {
    const address = /"event":"listening","url":"([^"]+)"/.exec(await readFile(logFile, 'utf8'))?.[1];
    if (address !== undefined) return address;
    await sleep(50);
  }
}

type Headers = () => Readonly<Record<string, string>>;

const LISTED_FIELDS = 'created,student,class,section,status,marked_by';

function restDialect(headers: Headers): Dialect {
  const read = (address: string) => ({ path: address, headers: headers() });
  const post = (address: string, body: unknown) => ({
    method: 'POST' as const,
    path: address,
    headers: { ...headers(), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    one: (id) => read(`/o/recs/attendance/${id}`),
    list: (asked) =>
      read(
        `/o/recs/attendance?stream=true&oquery=class=${asked.class},created=on${asked.day}&project=${LISTED_FIELDS}&limit=100`,
      ),
    contains: (text) =>
      read(`/o/recs/registration?stream=true&ci=true&oquery=name=*${encodeURIComponent(text)}&limit=20`),
    collection: ({ from, to }) =>
      read(`/?report=daily-fee-collection&from=${from}&to=${to}&payment_type=all&format=ndjson`),
    collectionWithTotals: ({ from, to }) =>
      read(`/?report=daily-fee-collection&from=${from}&to=${to}&payment_type=all`),
    create: (mark) => post('/o/attendance', restMark(mark)),
    stream: (count) => read(`/o/recs/attendance?stream=true&limit=${count}`),
    createMany: (marks) => post('/o/attendance', marks.map(restMark)),
  };
}

function restMark({ student, day, class: className, section }: Mark) {
  return {
    created: `${day}T03:05:00.000Z`,
    student,
    class: className,
    section,
    status: 'present',
    marked_by: 'usr-admin',
  };
}

const RECORD = 'id created student { id label } class section status remark markedBy { id label }';
const STUDENT =
  'id sequence name class section rollNo gender dob fatherName motherName guardianPhone address ' +
  'session admittedOn status';

const ONE = `query One($id: ID!) { attendanceRecord(id: $id) { ${RECORD} } }`;
const LIST = `query List($class: String!, $day: LocalDate!) {
  attendanceRecords(where: {class: {equals: $class}, created: {on: $day}}, first: 100) {
    nodes { id created student { id label } class section status markedBy { id label } }
  }
}`;
const CONTAINS = `query Contains($text: String!) {
  registrations(where: {name: {contains: $text, mode: INSENSITIVE}}, first: 20) { nodes { ${STUDENT} } }
}`;
const COLLECTION = `query Collection($from: LocalDate!, $to: LocalDate!) {
  dailyFeeCollection(from: $from, to: $to, paymentType: ALL) { rows { day heads { feeHead amount } } }
}`;
const COLLECTION_WITH_TOTALS = `query Totals($from: LocalDate!, $to: LocalDate!) {
  dailyFeeCollection(from: $from, to: $to, paymentType: ALL) {
    rows { day receipts firstReceiptNo lastReceiptNo heads { feeHead amount } fine total }
    totals { receipts heads { feeHead amount } fine total difference missingReceiptNumbers }
  }
}`;
const CREATE = `mutation Create($data: CreateAttendanceRecordInput!) {
  createAttendanceRecord(data: $data) { ${RECORD} }
}`;
const CREATE_MANY = `mutation CreateMany($records: [CreateAttendanceRecordInput!]!) {
  createAttendanceRecords(records: $records) { count }
}`;

function graphqlDialect(headers: Headers): Dialect {
  const ask = (query: string, variables: unknown) => ({
    method: 'POST' as const,
    path: '/graphql',
    headers: { ...headers(), 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return {
    one: (id) => ask(ONE, { id }),
    list: (asked) => ask(LIST, asked),
    contains: (text) => ask(CONTAINS, { text }),
    collection: (range) => ask(COLLECTION, range),
    collectionWithTotals: (range) => ask(COLLECTION_WITH_TOTALS, range),
    create: (mark) => ask(CREATE, { data: graphqlMark(mark) }),
    createMany: (marks) => ask(CREATE_MANY, { records: marks.map(graphqlMark) }),
  };
}

function graphqlMark({ student, day, class: className, section }: Mark) {
  return {
    created: `${day}T03:05:00.000Z`,
    student: { id: student },
    class: className,
    section,
    status: 'PRESENT',
    markedBy: { id: 'usr-admin' },
  };
}
