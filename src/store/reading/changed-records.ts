/** Reads changed records as the caller may see them now: one statement per batch of changes. */

import {
  compileObject,
  joinsOf,
  type Printing,
  startPrinting,
  startRecordItem,
  valueColumns,
} from '../sql/compile-shape.js';
import type { Member } from '../sql/shape.js';
import { type Sql, sql } from '../sql.js';

export interface ChangedRecord {
  readonly id: string;
  readonly isRemoved: boolean;
  /** The JSON text, for each selection. */
  readonly texts: readonly string[];
}

/** Selects `ChangedRow`s: the records, including removed ones, that satisfy the condition over `r`. */
export function compileChangedRecords(
  selections: readonly (readonly Member[])[],
  options: {
    readonly ids: readonly string[];
    readonly where: Sql;
    readonly printing: Omit<Printing, 'aliasCount'>;
  },
): Sql {
  const item = startRecordItem();
  const printing = startPrinting(options.printing);
  const texts = selections.map((members) => sql`(${compileObject(members, item, printing)})::text`);
  const printed = texts.length === 0 ? sql.empty : sql.join(texts);
  return sql`
select r.id, r.is_removed as "isRemoved", array[${printed}]::text[] as texts
from (
  select r.id, r.version, r.created_at, r.updated_at, r.data${valueColumns(item)},
    r.deleted_at is not null as is_removed
  from records r
  where ${options.where} and r.id = any(${[...options.ids]}::text[])
  offset 0
) r ${joinsOf(item)}`;
}
