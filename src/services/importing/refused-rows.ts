/** Reads the rows that an import has refused, page by page. */

import { printCsvLine } from '../../base/tables/csv-line.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Queryable } from '../../store/database/queryable.js';
import { REST_HEADING } from '../exporting/record-columns.js';
import type { RowFault } from './preparing/row-mapper.js';
import { ERROR_COLUMN } from './propose-mapping.js';
import type { StoredImport } from './stored-import.js';

export interface RefusedRowOfImport {
  readonly number: number;
  readonly errors: readonly RowFault[];
  readonly source: readonly string[];
}

const ROWS_AT_ONCE = 1_000;

/** The rows that the last step has refused, in the order of the file. */
export async function listRefusedRows(
  db: Queryable,
  one: StoredImport,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly RefusedRowOfImport[]> {
  return await db.query<RefusedRowOfImport>(Prisma.sql`
    select e.row_number as number, e.errors, e.source
    from import_errors e
    where e.import_id = ${one.id}::uuid and e.step = ${stepOf(one)} and e.row_number > ${after}::bigint
    order by e.row_number
    limit ${limit}`);
}

/**
 * All refused rows as CSV: the columns of the file, or one column with whole documents, and a last column
 * with the errors. Once corrected, it can be imported as a file of its own.
 */
export async function* printRefusedRows(db: Queryable, one: StoredImport): AsyncGenerator<string, void> {
  // An import reads this column as the fields of the record, so it may hold a whole document.
  const columns = one.inspection?.columns ?? [REST_HEADING];
  const kept = columns.filter((column) => column !== ERROR_COLUMN);
  const places = kept.map((column) => columns.indexOf(column));
  yield printCsvLine([...kept, ERROR_COLUMN]);
  for (let after = -1; ; ) {
    const rows = await listRefusedRows(db, one, { after, limit: ROWS_AT_ONCE });
    if (rows.length === 0) return;
    yield rows
      .map(({ source, errors, number }) => {
        const wrong = errors.map(({ detail }) => detail).join('; ');
        return printCsvLine([...places.map((place) => source[place] || null), `row ${number}: ${wrong}`]);
      })
      .join('');
    after = rows.at(-1)?.number ?? after;
  }
}

/** The step whose errors are shown: the run once it has begun, else the dry run. */
function stepOf({ state, trial, startedAt }: StoredImport): 'try' | 'run' {
  if (state === 'trying' || state === 'tried') return 'try';
  if (state === 'ready' || state === 'waiting')
    return trial === undefined && startedAt !== undefined ? 'run' : 'try';
  return 'run';
}
