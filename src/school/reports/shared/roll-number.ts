import { type Sql, sql } from '../../../store/sql.js';

/**
 * The roll number of the registration `r`; null if it is implausible. In JSON, only numbers lie between two
 * numbers.
 */
export const rollNumber: Sql = sql`
    case when r.data->'roll_no' between '0' and '999999' then (r.data->'roll_no')::int end`;
