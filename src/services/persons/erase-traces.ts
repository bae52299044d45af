/**
 * Erases a person outside the records: in messages, in the log-in of a user, and in whatever names the
 * person.
 */

import { parseExactJson, printExactJson } from '../../base/json/json.js';
import { holdMoves } from '../../store/changes/change-outbox.js';
import { type Sql, sql } from '../../store/sql.js';
import { USER_COLLECTION } from '../../store/writing/record-statements.js';
import { type Belongings, type ErasureWork, idsOf, likePatterns, Redaction } from './identity.js';
import { SEARCHED_TABLES, type SearchedTable } from './searched-tables.js';

/** Logs the user out everywhere, and makes sure that nobody can log in as the user again. */
export async function eraseAccess({ transaction, scope, identity, report }: ErasureWork): Promise<void> {
  if (identity.collection !== USER_COLLECTION) return;
  for (const { table, place, column } of ACCESS_TABLES) {
    const rows = await transaction.query<{ id: string }>(sql`
      delete from ${sql.raw(table)}
      where domain_id = ${scope.domain.id} and user_id = ${identity.id}
      returning ${sql.raw(column)}::text as id`);
    report.add('removed', place, idsOf(rows));
  }
}

const ACCESS_TABLES = [
  { table: 'sessions', place: 'sessions', column: 'id' },
  { table: 'api_keys', place: 'API keys', column: 'id' },
  { table: 'credentials', place: 'passwords', column: 'password_changed_at' },
  { table: 'account_links', place: 'links to set a password', column: 'purpose' },
  { table: 'second_factors', place: 'second factors', column: 'created_at' },
  { table: 'webhooks', place: 'webhooks of the user', column: 'name' },
  { table: 'recovery_codes', place: 'recovery codes', column: `'code'` },
] as const;

/**
 * Deletes the messages to or about the person. A message that also went to others is kept without the person.
 */
export async function eraseMessages({ transaction, scope, identity, report }: ErasureWork): Promise<void> {
  const alone = new Redaction(identity, 'alone');
  const everything = new Redaction(identity, 'everything');
  const rows = await transaction.query<{ id: string }>(sql`
    with named as (
      select m.id
      from messages m
      where m.domain = ${scope.domain.id}
        -- All of those it went to are the person's.
        and not exists (
          select from unnest(m.recipients) as recipient
          where not lower(recipient) like any(${[...likePatterns(everything.sought)]}::text[])
        )
        and (
          lower(concat_ws(' ', m.key, m.subject, m.content::text, array_to_string(m.recipients, ' ')))
            like any(${[...likePatterns(alone.sought)]}::text[])
          -- Its record has gone before it.
          or (m.record_id is not null and m.record_id not in (
            select r.id
            from records r
            where r.domain = ${scope.domain.id} and r.collection = 'sms_log'
          ))
        )
    )
    delete from messages m
    using named n
    where m.id = n.id
    returning m.id::text as id`);
  report.add('removed', 'messages', idsOf(rows));
}

/** Replaces the person by the pseudonym in every other table that may name the person. */
export async function eraseTraces(work: ErasureWork): Promise<void> {
  // While rows are being moved from one table to another, neither table has all of them.
  await holdMoves(work.transaction);
  for (const searched of SEARCHED_TABLES) {
    await replaceUsers(work, searched);
    await replaceIn(work, searched);
  }
}

/** The acts of a user are kept, under the pseudonym. */
async function replaceUsers(
  { transaction, scope, identity, report }: ErasureWork,
  { table, place, domain = 'domain', users = [] }: SearchedTable,
): Promise<void> {
  if (identity.collection !== USER_COLLECTION || typeof domain !== 'string') return;
  for (const column of users) {
    const name = sql.raw(column);
    const rows = await transaction.query<{ id: string }>(sql`
      update ${sql.raw(table)}
      set ${name} = ${identity.pseudonym}
      where ${sql.raw(domain)} = ${scope.domain.id} and ${name} = ${identity.id}
      returning ctid::text as id`);
    const because = 'what the user did stays, done by the pseudonym';
    report.add('replaced', `${place} (${column})`, numbered(rows), { because });
  }
}

interface FoundRow {
  readonly row: string;
  readonly shown: string;
  readonly [column: string]: string | readonly string[] | null;
}

async function replaceIn(work: ErasureWork, searched: SearchedTable): Promise<void> {
  const { transaction, scope, identity, report } = work;
  const { table, place, shown = 'id', texts = [], json = [], lists = [], hit } = searched;
  const redaction = new Redaction(identity, 'alone');
  if (redaction.sought.length === 0) return;
  const columns = [...texts, ...json, ...lists];
  const rows = await transaction.query<FoundRow>(sql`
    select ctid::text as row, ${sql.raw(shown)}::text as shown,
      ${sql.raw([...texts, ...lists, ...json.map((name) => `${name}::text as ${name}`)].join(', '))}
    from ${sql.raw(table)}
    where ${isOfDomain(searched, scope.domain.id)}
      and (${sql.join(
        columns.map((name) => sql`lower(${sql.raw(name)}::text) like any(${redaction.patterns}::text[])`),
        ' or ',
      )})
    for update`);
  const named = rows.filter((row) => columns.some((name) => isNamed(redaction, row[name])));
  const ids = [...new Set(named.map((row) => row.shown))];
  if (hit === 'report') {
    const because = 'text of the school that names the person: change it by hand';
    report.add('kept', place, ids, { because });
    return;
  }
  const renamed = ids.map((id) => redaction.text(id));
  if (hit === 'remove') report.add('removed', place, numbered(named));
  else report.add('replaced', place, renamed);
  for (const row of named) await settle(work, searched, row, redaction);
}

/** Rows without ids to show are only numbered. */
function numbered(rows: readonly unknown[]): readonly string[] {
  return rows.map((_row, index) => String(index + 1));
}

function isOfDomain({ domain = 'domain' }: SearchedTable, id: string): Sql {
  if (domain === 'none') return sql`true`;
  if (typeof domain === 'string') return sql`${sql.raw(domain)} = ${id}`;
  const { column, owner, ownerDomain } = domain;
  return sql`${sql.raw(column)} in (
    select o.id from ${sql.raw(owner)} o where o.${sql.raw(ownerDomain)} = ${id}
  )`;
}

function isNamed(redaction: Redaction, value: string | readonly string[] | null | undefined): boolean {
  return [value ?? []].flat().some((text) => redaction.text(text) !== text);
}

async function settle(
  { transaction, scope }: ErasureWork,
  searched: SearchedTable,
  row: FoundRow,
  redaction: Redaction,
): Promise<void> {
  const { table, texts = [], json = [], lists = [], hit, set } = searched;
  // On Citus each shard may have a row at such a place: the domain decides which shard is searched.
  const isFound = sql`${isOfDomain(searched, scope.domain.id)} and ctid = ${row.row}::tid`;
  if (hit === 'remove') {
    await transaction.query(sql`delete from ${sql.raw(table)} where ${isFound}`);
    return;
  }
  const emptied = typeof hit === 'object' ? hit.empty : [];
  const changeOf = (name: string): Sql[] => {
    const value = row[name];
    if (Array.isArray(value))
      return [sql`${sql.raw(name)} = ${value.map((text: string) => redaction.text(text))}::text[]`];
    if (typeof value !== 'string') return [];
    return json.includes(name)
      ? [sql`${sql.raw(name)} = ${printExactJson(redaction.json(parseExactJson(value)))}::json`]
      : [sql`${sql.raw(name)} = ${redaction.text(value)}`];
  };
  const changes = [
    ...[...texts, ...json, ...lists].filter((name) => !emptied.includes(name)).flatMap(changeOf),
    ...emptied.map((name) => sql`${sql.raw(name)} = null`),
    ...(set === undefined ? [] : [sql.raw(set)]),
  ];
  await transaction.query(sql`
    update ${sql.raw(table)}
    set ${sql.join(changes)}
    where ${isFound}`);
}

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
  const { patterns } = new Redaction(identity, 'alone');
  const writers = await findWriters(work, parts);
  const named = await transaction.query<KeptFile>(sql`
    -- Where tables are sharded over several servers, files are on another one than imports.
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
  report.add('removed', 'files of imports', idsOf(named));
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
