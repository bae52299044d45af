import { isJsonObject, type JsonObject, parseExactJson } from '../../base/json/json.js';
import { nameLiteral, sql } from '../sql.js';
import type { Database } from './database.js';

interface BatchedRecord {
  readonly id: string;
  readonly version: number;
  readonly data: JsonObject;
  readonly keys: JsonObject;
}

const BATCH_RECORDS = 1_000;

/** All live records of a collection in a domain, as they are stored, in batches by `_id`. */
export async function* recordBatches(
  database: Pick<Database, 'query'>,
  domainId: string,
  collection: string,
): AsyncGenerator<readonly BatchedRecord[], void> {
  for (let after = ''; ; ) {
    const rows = await database.query<{ id: string; version: number; data: string; keys: JsonObject | null }>(
      sql`
        select r.id, r.version, r.data::text as data, r.keys
        from records r
        where r.domain = ${domainId} and r.collection = ${nameLiteral(collection)} and r.deleted_at is null
          and r.id > ${after}
        order by r.id
        limit ${BATCH_RECORDS}`,
    );
    yield rows.map(({ data: text, keys, ...row }) => {
      const data = parseExactJson(text);
      return { ...row, data: isJsonObject(data) ? data : {}, keys: keys ?? {} };
    });
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_RECORDS) return;
    after = last.id;
  }
}
