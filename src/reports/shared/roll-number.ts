import { Prisma } from '../../generated/prisma/client.js';
import type { Sql } from '../../generated/prisma/internal/prismaNamespace.js';

/** The roll number of the registration `r`; null where it is none that anybody has. */
export const rollNumber: Sql = Prisma.sql`
    case when to_number(r.data->'roll_no') between 0 and 999999 then to_number(r.data->'roll_no')::int end`;
