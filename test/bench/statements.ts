/** Takes down the statements a piece of the gateway runs, so that the baseline can run the very same. */
import type { Prisma } from '../../src/generated/prisma/client.js';
import type { Database } from '../../src/store/database/database.js';
import type { BareStatement } from './bare-server.js';

export interface StatementRecorder {
  readonly database: Database;
  /**
   * The one statement that `work` runs. @throws when it runs none, or several: then a comparison would be
   * unfair
   */
  record(work: () => Promise<unknown>): Promise<BareStatement>;
}

export function recordStatements(database: Database): StatementRecorder {
  let taken: BareStatement[] = [];
  const take = (sql: Prisma.Sql, kind: BareStatement['kind'], name: string | undefined) => {
    taken.push({ text: sql.text, values: sql.values, kind, ...(name !== undefined && { name }) });
  };
  const recording: Pick<Database, 'query' | 'stream' | 'streamInTurn'> = {
    query: (sql, options) => {
      take(sql, 'rows', options?.name);
      return database.query(sql, options);
    },
    stream: (sql, options) => {
      take(sql, 'stream', options?.name);
      return database.stream(sql, options);
    },
    streamInTurn: (statements, options) => {
      for (const { sql, name } of statements) take(sql, 'stream', name);
      return database.streamInTurn(statements, options);
    },
  };
  return {
    database: Object.assign(Object.create(database) as Database, recording),
    async record(work) {
      taken = [];
      await work();
      const [statement, another] = taken;
      if (!statement || another) throw new Error(`expected one statement, got ${taken.length}`);
      return statement;
    },
  };
}
