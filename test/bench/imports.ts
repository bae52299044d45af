/**
 * `npm run bench -- imports`: how many rows a second an import takes, through all checks: marks into a
 * collection that has 300,000, the same file again, and into one that has none; each with nobody else asking,
 * and again while readers do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import pg from 'pg';
import { findPackageDirectory } from '../../src/base/process/package-directory.js';
import {
  forgetHighestMemory,
  highestMemory,
  parentOf,
  processorMs,
  residentMemory,
} from './process-usage.js';
import { prepareSchool } from './school.js';

const PORT = 4_390;
const URL_OF_GATEWAY = `http://127.0.0.1:${PORT}`;
const STUDENTS = 5_000;
const READERS = 4;

interface Measured {
  readonly what: string;
  readonly readers: number;
  readonly target: number;
  readonly rowsPerSecond: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly readsPerSecond: number;
  /** Beyond what it held at first. */
  readonly gatewayMb: number;
  /** Processor time for a row, in microseconds, with what the readers take. */
  readonly gatewayUs: number;
  readonly databaseUs: number;
}

export interface ImportsAsked {
  /** Of the file. */
  readonly rows: number;
  /** Only imports with this in their names. */
  readonly only: string;
}

export async function benchImports(databaseUrl: string, { rows, only }: ImportsAsked): Promise<void> {
  const [key = ''] = await prepareSchool(databaseUrl, { students: STUDENTS, days: 60 });
  const gateway = await startGateway(databaseUrl);
  try {
    const measured: Measured[] = [];
    const pid = gateway.pid ?? 0;
    const bench = async (what: string, target: number, readers: number) => {
      if (!what.includes(only)) return;
      measured.push(await measure({ what, target, readers, rows, key, databaseUrl, pid }));
      process.stderr.write(`${print(measured.slice(-1))}\n`);
    };
    for (const readers of [0, READERS]) {
      await removeMarks(databaseUrl, `data->>'created' >= '2050'`);
      await bench('into a live collection', 8_000, readers);
      await bench('the same again', 40_000, readers);
    }
    for (const readers of [0, READERS]) {
      await removeMarks(databaseUrl, 'true');
      await bench('into an empty collection', 20_000, readers);
    }
    process.stdout.write(`${print(measured)}\n`);
  } finally {
    gateway.kill('SIGTERM');
    await once(gateway, 'exit');
  }
}

async function startGateway(databaseUrl: string): Promise<ChildProcess> {
  const gateway = spawn(process.execPath, [path.join(findPackageDirectory(), 'dist/main.js'), 'start'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(PORT),
      DEMO: 'false',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_PER_MINUTE: '100000000',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const isReady = await fetch(`${URL_OF_GATEWAY}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return gateway;
    await sleep(100);
  }
  throw new Error('the gateway does not start');
}

async function removeMarks(databaseUrl: string, condition: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    await client.query(`delete from records where collection = 'attendance' and ${condition}`);
    await client.query(
      condition === 'true'
        ? 'truncate attendance_months'
        : `delete from attendance_months where month >= '2050'`,
    );
    await client.query(`delete from audit_entries where collection = 'attendance'`);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Of all students on days long after the last that is seeded. */
function marks(rows: number): string {
  const lines = ['created,student.value,class,section,status'];
  for (let day = 0; day < rows / STUDENTS; day += 1) {
    const date = new Date(Date.UTC(2050, 0, 1 + day, 3, 30)).toISOString();
    for (let i = 1; i <= STUDENTS; i += 1) {
      const id = `stu-${String(i).padStart(5, '0')}`;
      lines.push(`${date},${id},${(i % 12) + 1},A,${i % 11 === 0 ? 'absent' : 'present'}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

async function measure(asked: {
  readonly what: string;
  readonly target: number;
  readonly readers: number;
  readonly rows: number;
  readonly key: string;
  readonly databaseUrl: string;
  readonly pid: number;
}): Promise<Measured> {
  const { what, target, key, pid } = asked;
  const headers = { authorization: `Bearer ${key}` };
  const ask = async (method: string, at: string, body?: string) => {
    const response = await fetch(URL_OF_GATEWAY + at, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    const answer = (await response.json()) as ImportAnswer;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const untilOver = async (id: string): Promise<ImportAnswer> => {
    for (;;) {
      const one = await ask('GET', `/imports/${id}`);
      if (['ready', 'done', 'failed'].includes(one.state)) return one;
      await sleep(50);
    }
  };
  const { id } = await ask(
    'POST',
    '/imports?collection=attendance&name=marks.csv&by=student_day',
    marks(asked.rows),
  );
  await untilOver(id);
  const readers = new Readers(asked.readers, headers);
  const server = await serverPid(asked.databaseUrl);
  await forgetHighestMemory(pid);
  const before = {
    memory: await residentMemory(pid),
    gatewayMs: await processorMs(pid),
    databaseMs: await processorMs(server),
  };
  await ask('POST', `/imports/${id}/run?mode=rows`);
  const done = await untilOver(id);
  const seconds = (Date.parse(done.endedAt ?? '') - Date.parse(done.startedAt ?? '')) / 1000;
  const { counts } = done;
  const rows = counts.rows ?? 0;
  if (done.state !== 'done' || counts.refused !== 0) throw new Error(JSON.stringify(done));
  return {
    what,
    target,
    readers: asked.readers,
    rowsPerSecond: rows / seconds,
    counts,
    readsPerSecond: (await readers.stop()) / seconds,
    gatewayMb: ((await highestMemory(pid)) - before.memory) / 1024 ** 2,
    gatewayUs: (1000 * ((await processorMs(pid)) - before.gatewayMs)) / rows,
    databaseUs: (1000 * ((await processorMs(server)) - before.databaseMs)) / rows,
  };
}

interface ImportAnswer {
  readonly id: string;
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

/** Ask for students one after the other, for as long as an import runs. */
class Readers {
  readonly #reading: Promise<number>[];
  #isOver = false;

  constructor(count: number, headers: Readonly<Record<string, string>>) {
    this.#reading = Array.from({ length: count }, (_, index) => this.#read(index, headers));
  }

  async stop(): Promise<number> {
    this.#isOver = true;
    const counts = await Promise.all(this.#reading);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #read(index: number, headers: Readonly<Record<string, string>>): Promise<number> {
    let count = 0;
    for (; !this.#isOver; count += 1) {
      const student = `stu-${String(((count * READERS + index) % STUDENTS) + 1).padStart(5, '0')}`;
      const response = await fetch(`${URL_OF_GATEWAY}/o/recs/registration/${student}`, { headers });
      await response.text();
    }
    return count;
  }
}

/** The process that has started all others of PostgreSQL. */
async function serverPid(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return await parentOf(rows[0]?.pid ?? Number.NaN);
  } finally {
    await client.end();
  }
}

function print(measured: readonly Measured[]): string {
  const table = new Table({
    head: [
      'import',
      'readers',
      'rows',
      'rows/s',
      'target',
      'reads/s beside',
      'MiB more',
      'gateway µs',
      'database µs',
    ],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
  });
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  for (const one of measured) {
    const { what, counts, rowsPerSecond, target, readsPerSecond, gatewayMb, gatewayUs, databaseUs } = one;
    table.push([
      what,
      whole(one.readers),
      whole(counts.rows ?? 0),
      whole(rowsPerSecond),
      whole(target),
      whole(readsPerSecond),
      whole(gatewayMb),
      whole(gatewayUs),
      whole(databaseUs),
    ]);
  }
  return table.toString();
}
