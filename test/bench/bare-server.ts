/**
 * The baseline: `node:http` and `pg`, nothing else. It runs the statements it is given, as prepared statements,
 * and passes what Postgres printed through to the client: no credential, no parsing, no checks.
 *
 * Started as a child process with an environment variable `BARE_SERVER` that holds a `BareServerOptions`; sends
 * `{ url }` once it listens and answers `memory` with `{ rssBytes }`.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import Cursor from 'pg-cursor';

export interface BareServerOptions {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly statements: Readonly<Record<string, BareStatement>>;
}

/** A statement with one text column. `freshIdAt`: the parameter that must be a new id at every run (a create). */
export interface BareStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly kind: 'rows' | 'stream';
  readonly freshIdAt?: number;
}

const options = JSON.parse(process.env.BARE_SERVER ?? '') as BareServerOptions;
const pool = new pg.Pool({ connectionString: options.databaseUrl, max: options.poolSize, options: '-c jit=off' });
const server = createServer((request, response) => {
  const name = (request.url ?? '/').slice(1);
  request.resume();
  request.on('end', () => {
    const statement = options.statements[name];
    if (statement === undefined) {
      response.writeHead(404).end();
      return;
    }
    const answer = statement.kind === 'stream' ? streamRows(statement, response) : sendRows(name, statement, response);
    answer.catch((fault: unknown) => {
      process.stderr.write(`bare server: ${String(fault)}\n`);
      response.destroy();
    });
  });
});

server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('message', (message) => {
  if (message === 'memory') process.send?.({ rssBytes: process.memoryUsage.rss() });
});

async function sendRows(name: string, statement: BareStatement, response: ServerResponse): Promise<void> {
  const values = [...statement.values];
  if (statement.freshIdAt !== undefined) values[statement.freshIdAt] = freshValue(values[statement.freshIdAt]);
  const { rows } = await pool.query<unknown[]>({ name, text: statement.text, values, rowMode: 'array' });
  const body = rows.map((row) => String(row[0])).join(',');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`[${body}]`);
}

async function streamRows(statement: BareStatement, response: ServerResponse): Promise<void> {
  const client = await pool.connect();
  const cursor = client.query(new Cursor<unknown[]>(statement.text, [...statement.values], { rowMode: 'array' }));
  try {
    response.writeHead(200, { 'content-type': 'application/json' });
    let separator = '[';
    for (;;) {
      const rows = await cursor.read(500);
      if (rows.length === 0) break;
      const chunk = separator + rows.map((row) => String(row[0])).join(',');
      separator = ',';
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end(']');
  } finally {
    await cursor.close();
    client.release();
  }
}

/** A list of ids stays a list, so that the statement's own types hold. */
function freshValue(value: unknown): unknown {
  return Array.isArray(value) ? value.map(() => randomUUID()) : randomUUID();
}
