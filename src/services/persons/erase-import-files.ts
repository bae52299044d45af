/** Erases a person from the stored files of imports, any row of which may name the person. */
import { type Sql, sql } from '../../store/sql.js';
import type { Belongings } from './belongings.js';
import type { ErasureWork } from './erasure-work.js';
import { likePatterns } from './identify-person.js';
import { Redaction } from './identity.js';

/**
 * Deletes the files of imports that wrote a record of the person, or that name the person in a row, a
 * finding, a dry run or a refused row. A running import among them is stopped.
 */
export async function eraseImportFiles(
  work: ErasureWork,
  parts: readonly Belongings[],
  hidden: Sql,
): Promise<void> {
  const { transaction, scope, identity, report } = work;
  const { sought } = new Redaction(identity, 'alone');
  const patterns = [...likePatterns(sought.map((text) => JSON.stringify(text).slice(1, -1)))];
  const writers = await findWriters(work, parts);
  const named = await transaction.query<KeptFile>(sql`
    -- Where tables are spread over several servers, files are on another one than imports.
    with ready as materialized (
      select id from files where domain = ${scope.domain.id} and state = 'ready'
    )
    select i.id::text as id, i.file_id::text as file
    from imports i
    join ready f on f.id = i.file_id
    cross join lateral (
      select i.id::text = any(${[...writers, ...work.importsNaming]}::text[])
        or lower(concat_ws(' ', i.name, i.inspection::text, i.trial::text)) like any(${patterns}::text[])
        or exists (
          select from import_errors e
          where e.import_id = i.id
            and lower(concat_ws(' ', e.errors::text, e.source::text)) like any(${patterns}::text[])
        ) as is_named
    ) as n
    where i.domain = ${scope.domain.id} and i.owns_file and n.is_named
    order by i.id`);
  await transaction.query(sql`
    update files
    set ${hidden}
    where domain = ${scope.domain.id} and id::text = any(${named.map(({ file }) => file)}::text[])`);
  await transaction.query(sql`
    update imports
    set is_stopped = true
    where domain = ${scope.domain.id} and id::text = any(${named.map(({ id }) => id)}::text[])
      and state in ('received', 'inspecting', 'trying', 'waiting', 'running')`);
  report.add(
    'removed',
    'files of imports',
    named.map(({ id }) => id),
  );
}

interface KeptFile {
  readonly id: string;
  readonly file: string;
}

/** The imports that wrote records of the person, according to the audit trail. */
async function findWriters(
  { transaction, scope }: ErasureWork,
  parts: readonly Belongings[],
): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const { collection, ids: records } of parts) {
    const rows = await transaction.query<{ id: string }>(sql`
      select distinct split_part(e.request_id, '.', 1) as id
      from audit_entries e
      where e.domain = ${scope.domain.id} and e.collection = ${collection.name}
        and e.record_id = any(${[...records]}::text[]) and e.request_operation = 'import'`);
    for (const { id } of rows) ids.add(id);
  }
  return [...ids];
}
