/**
 * The bare server: `node:http`, `pg`, and a statement written by hand for each question, prepared, on the
 * plain tables. PostgreSQL prints the JSON and the server passes it on: no credential, no parsing, no checks,
 * no log.
 *
 * Started as a child process with an environment variable `BARE_SERVER` that holds a `BareServerOptions`;
 * sends `{ url }` once it listens.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import Cursor from 'pg-cursor';

export interface BareServerOptions {
  readonly databaseUrl: string;
  readonly poolSize: number;
}

interface Row {
  readonly json: string;
}

/** Each by the first part of the path; the other parts are its parameters, in order. */
const READS: Readonly<Record<string, string>> = {
  one: 'select row_to_json(a)::text as json from plain.attendance a where id = $1',
  list: `
    select row_to_json(a)::text as json
    from (
      select id, created, student, student_label, class, section, status, marked_by, marked_by_label
      from plain.attendance
      where class = $1 and created >= ($2::timestamp at time zone 'Asia/Kolkata')
        and created < (($2::timestamp + interval '1 day') at time zone 'Asia/Kolkata')
      order by id limit 100
    ) as a`,
  contains: `
    select row_to_json(r)::text as json
    from plain.registration r where name ilike '%' || $1 || '%' order by id limit 20`,
  // Every instant is turned into its day once for all its lines.
  collection: `
    select row_to_json(d)::text as json
    from (
      select (date at time zone 'Asia/Kolkata')::date as day, fee_head, sum(amount) as amount
      from (
        select date, fee_head, sum(amount) as amount from plain.fee_receipt_line
        where status = 'active' and date >= ($1::timestamp at time zone 'Asia/Kolkata')
          and date < (($2::timestamp + interval '1 day') at time zone 'Asia/Kolkata')
        group by date, fee_head
      ) as lines
      group by 1, 2 order by 1, 2
    ) as d`,
};

const COLUMNS = 'created, student, student_label, class, section, status, marked_by';
/** The body of the request is the parameter, as it came. */
const WRITES: Readonly<Record<string, string>> = {
  create: `
    insert into plain.attendance as a (${COLUMNS})
    select m.created, m.student, r.name, m.class, m.section, m.status, m.marked_by
    from json_to_record($1::json)
      as m(created timestamptz, student text, class text, section text, status text, marked_by text)
    join plain.registration r on r.id = m.student
    returning row_to_json(a)::text as json`,
  createMany: `
    insert into plain.attendance as a (${COLUMNS})
    select m.created, m.student, r.name, m.class, m.section, m.status, m.marked_by
    from json_to_recordset($1::json)
      as m(created timestamptz, student text, class text, section text, status text, marked_by text)
    join plain.registration r on r.id = m.student
    returning row_to_json(a)::text as json`,
};

const STREAM = 'select row_to_json(a)::text as json from plain.attendance a order by id limit $1';
const STREAM_ROWS = 500;

const options = JSON.parse(process.env.BARE_SERVER ?? '') as BareServerOptions;
const pool = new pg.Pool({
  connectionString: options.databaseUrl,
  max: options.poolSize,
  options: '-c jit=off -c max_parallel_workers_per_gather=0',
});

const server = createServer((request, response) => {
  answer(request, response).catch((fault: unknown) => {
    process.stderr.write(`bare server: ${String(fault)}\n`);
    response.writeHead(500).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, name = '', ...parameters] = (request.url ?? '/').split('/');
  if (name === 'stream') return await streamRows(Number(parameters[0]), response);
  const read = READS[name];
  if (read !== undefined) {
    const values = name === 'contains' ? parameters.map(decodeURIComponent) : parameters;
    return await sendRows({ name, text: read, values }, response);
  }
  const write = WRITES[name];
  if (write === undefined) throw new Error(`no statement is named ${name}`);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  await sendRows({ name, text: write, values: [Buffer.concat(chunks).toString()] }, response);
}

async function sendRows(statement: pg.QueryConfig, response: ServerResponse): Promise<void> {
  const { rows } = await pool.query<Row>(statement);
  const body = `[${rows.map(({ json }) => json).join(',')}]`;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

async function streamRows(count: number, response: ServerResponse): Promise<void> {
  const client = await pool.connect();
  const cursor = client.query(new Cursor<Row>(STREAM, [count]));
  try {
    response.writeHead(200, { 'content-type': 'application/json' });
    let separator = '[';
    for (;;) {
      const rows = await cursor.read(STREAM_ROWS);
      if (rows.length === 0) break;
      const chunk = separator + rows.map(({ json }) => json).join(',');
      separator = ',';
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end(']');
  } finally {
    await cursor.close();
    client.release();
  }
}
