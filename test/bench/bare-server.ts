/**
 * The baseline: `node:http` and `pg`, nothing else. It runs the statements it is given, as prepared
 * statements, and passes what Postgres printed through to the client: no credential, no parsing, no checks.
 *
 * Started as a child process with an environment variable `BARE_SERVER` that holds a `BareServerOptions`;
 * sends `{ url }` once it listens, and answers questions as `usage.ts` says.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { FRESH_ID } from './fresh-id.js';
import { answerUsage } from './usage.js';

export interface BareServerOptions {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly statements: Readonly<Record<string, BareStatement>>;
}

/** A statement as the gateway runs it. Its column `json` is what is passed through. */
export interface BareStatement {
  readonly text: string;
  /** `FRESH_ID` in a text is a new id at every run, as a create needs. */
  readonly values: readonly unknown[];
  readonly kind: 'rows' | 'stream';
  /** Prepared under this name, as the gateway does. */
  readonly name?: string;
}

interface Row {
  /** A statement that prints no JSON, as an aggregate, gives columns. */
  readonly json?: string;
}

const options = JSON.parse(process.env.BARE_SERVER ?? '') as BareServerOptions;
const pool = new pg.Pool({
  connectionString: options.databaseUrl,
  max: options.poolSize,
  options: '-c jit=off',
});
const server = createServer((request, response) => {
  const name = (request.url ?? '/').slice(1);
  request.resume();
  request.on('end', () => {
    const statement = options.statements[name];
    if (statement === undefined) {
      response.writeHead(404).end();
      return;
    }
    const answer =
      statement.kind === 'stream' ? streamRows(statement, response) : sendRows(statement, response);
    answer.catch((fault: unknown) => {
      process.stderr.write(`bare server: ${String(fault)}\n`);
      response.destroy();
    });
  });
});

server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
answerUsage();

async function sendRows(statement: BareStatement, response: ServerResponse): Promise<void> {
  const id = randomUUID();
  const values = statement.values.map((value) => withFreshId(value, id));
  const { rows } = await pool.query<Row>({ ...statement, values });
  const body = rows.map((row) => row.json ?? JSON.stringify(row)).join(',');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`[${body}]`);
}

async function streamRows(statement: BareStatement, response: ServerResponse): Promise<void> {
  const client = await pool.connect();
  const cursor = client.query(new Cursor<Row>(statement.text, [...statement.values]));
  try {
    response.writeHead(200, { 'content-type': 'application/json' });
    let separator = '[';
    for (;;) {
      const rows = await cursor.read(500);
      if (rows.length === 0) break;
      const chunk = separator + rows.map((row) => row.json).join(',');
      separator = ',';
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end(']');
  } finally {
    await cursor.close();
    client.release();
  }
}

function withFreshId(value: unknown, id: string): unknown {
  if (Array.isArray(value)) return value.map((element) => withFreshId(element, id));
  return typeof value === 'string' ? value.replaceAll(FRESH_ID, id) : value;
}
