/**
 * Takes down the statement that the gateway runs for a GraphQL operation, sent to it over HTTP as any client
 * would: what the bare server is to run is what the gateway does run, whatever becomes of the code between.
 */
import pg from 'pg';
import { createApp } from '../../src/compose/app.js';
import { parseConfig } from '../../src/config.js';
import type { BareStatement } from './bare-server.js';

export interface OperationStatements {
  /**
   * The one statement on records. @throws when there is none, or several: then a comparison would be unfair
   */
  record(query: string): Promise<BareStatement>;
  close(): Promise<void>;
}

/** Starts a gateway in this process. The caller closes it. */
export async function recordOperations(databaseUrl: string, key: string): Promise<OperationStatements> {
  const app = await createApp(
    parseConfig({ DATABASE_URL: databaseUrl, PORT: '0', POOL_SIZE: '2', LOG_LEVEL: 'silent' }),
  );
  const url = await app.listen();
  const send = async (query: string) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const answer = await response.text();
    if (!response.ok || answer.includes('"errors"')) throw new Error(`${query}: ${answer}`);
  };
  // The first request also looks up who asks.
  await send('{ me { id } }');
  return {
    async record(query) {
      const statements = await statementsOf(() => send(query));
      const [statement, another] = statements;
      if (!statement || another)
        throw new Error(`expected one statement of ${query}, got ${statements.length}`);
      return statement;
    },
    close: () => app.close(),
  };
}

async function statementsOf(work: () => Promise<void>): Promise<readonly BareStatement[]> {
  const statements: BareStatement[] = [];
  const original = pg.Client.prototype.query;
  const recording = function (this: pg.Client, ...args: unknown[]) {
    const [config] = args;
    // Those of credentials name their tables otherwise.
    if (
      isQuery(config) &&
      /\brecords r\b|\binto records\b/.test(config.text) &&
      !/\bapi_keys\b/.test(config.text)
    ) {
      const { text, values = [], name } = config;
      statements.push({ text, values, kind: 'rows', ...(name !== undefined && { name }) });
    }
    return Reflect.apply(original, this, args);
  };
  Object.assign(pg.Client.prototype, { query: recording });
  try {
    await work();
  } finally {
    Object.assign(pg.Client.prototype, { query: original });
  }
  return statements;
}

interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

function isQuery(config: unknown): config is Query {
  return typeof config === 'object' && config !== null && 'text' in config && typeof config.text === 'string';
}
