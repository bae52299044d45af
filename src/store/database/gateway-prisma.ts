import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { Prisma, PrismaClient } from '../../generated/prisma/client.js';
import { translateDatabaseError } from './database-errors.js';
import { assertStorableArguments } from './server-statements.js';

export type GatewayPrisma = ReturnType<typeof createPrisma>;

/** The models of schema.prisma on the pool; faults are translated. */
export function createPrisma(pool: pg.Pool) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return prisma.$extends(
    Prisma.defineExtension({
      name: 'campus-faults',
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
