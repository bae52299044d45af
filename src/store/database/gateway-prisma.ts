import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { Prisma, PrismaClient } from '../../generated/prisma/client.js';
import { translateDatabaseError } from './database-errors.js';
import type { QueryOptions, StreamOptions } from './query-options.js';
import type { Queryable } from './queryable.js';
import { assertStorableArguments } from './storable-parameters.js';

interface StatementSource extends Queryable {
  readonly pool: pg.Pool;
  stream(sql: Prisma.Sql, options?: StreamOptions): AsyncIterable<readonly string[]>;
}

export type GatewayPrisma = ReturnType<typeof createPrisma>;

/** The models of schema.prisma on the pool, with `$query` and `$stream`; faults are translated. */
export function createPrisma(database: StatementSource) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) });
  return prisma.$extends(
    Prisma.defineExtension({
      name: 'campus-records',
      client: {
        $query: <Row extends object>(sql: Prisma.Sql, options?: QueryOptions) =>
          database.query<Row>(sql, options),
        $stream: (sql: Prisma.Sql, options?: StreamOptions) => database.stream(sql, options),
      },
      query: {
        async $allOperations({ args, query }) {
          try {
            assertStorableArguments(args);
            return await query(args);
          } catch (error) {
            throw translateDatabaseError(error);
          }
        },
      },
    }),
  );
}
