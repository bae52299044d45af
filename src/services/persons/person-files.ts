/**
 * Everything that is stored about a person, as readable files: an overview page, the records of each
 * collection and their history (one line each), the messages, the files, and where else the person is named.
 *
 * Records are read with the rights of the caller, as everywhere: hidden fields are left out, and the page
 * names collections that the caller may not read.
 */

import { text } from 'node:stream/consumers';
import {
  defined,
  isJsonObject,
  type JsonObject,
  parseExactJson,
  printExactJson,
} from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Filter } from '../../base/model/filter.js';
import { queryOf } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import type { ZipEntry } from '../../base/tables/print-zip.js';
import { findAccess } from '../../store/access/access.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import { type Sql, sql } from '../../store/sql.js';
import type { Files } from '../files/files.js';
import {
  type Belongings,
  findBelongings,
  identifyPerson,
  likePatterns,
  type PersonIdentity,
  type PersonKey,
  Redaction,
  referencePathsTo,
} from './identity.js';

export interface PersonArchiveServices {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly store: RecordStore;
  readonly files: Files;
}

/** A file of the archive, as the overview page lists it. */
interface ArchivedPart {
  readonly path: string;
  readonly title: string;
  readonly lines: number;
}

const BATCH_RECORDS = 500;
const HISTORY_PAGE = 1_000;
const FILES_PAGE = 100;
const PLACEHOLDER = 'erased';

/** The files of the archive in order. The page comes last because it shows how much each file contains. */
export async function* listPersonFiles(
  services: PersonArchiveServices,
  scope: Scope,
  key: PersonKey & { readonly at: Date },
): AsyncGenerator<ZipEntry, void> {
  const { database, catalog } = services;
  const identity = await identifyPerson(database, scope, { catalog, key, pseudonym: PLACEHOLDER });
  const person = catalog.get(key.collection, scope);
  const belongings = await findBelongings(database, scope, catalog, identity);
  const self = { collection: person, ids: [identity.id] };
  const parts: ArchivedPart[] = [];
  const hidden: string[] = [];
  for (const part of [self, ...belongings]) {
    const { name, title } = part.collection;
    if (findAccess(scope, part.collection, 'read') === undefined) {
      hidden.push(title);
      continue;
    }
    yield* counted(parts, `records/${name}.ndjson`, title, recordLines(services, scope, part));
    const history = historyLines(services, scope, part);
    yield* counted(parts, `history/${name}.ndjson`, `History of ${title}`, history);
  }
  const mentions = mentionLines(services, scope, { identity, belongings });
  yield* counted(parts, 'mentions.ndjson', 'Records of others that name or point to the person', mentions);
  for (const { path, title, statement } of tracesOf(scope, identity)) {
    yield* counted(parts, path, title, rowLines(database, statement));
  }
  yield* fileEntries(services, scope, parts, [self, ...belongings]);
  const about = { domain: scope.domain.name, collection: person, at: key.at };
  // A person whose record was removed has none: the history contains it.
  const { value: json = '{}' } = await recordLines(services, scope, self).next();
  yield {
    path: 'index.json',
    content: [`${JSON.stringify({ ...key, domain: scope.domain.id, parts }, null, 2)}\n`],
  };
  yield { path: 'index.html', content: [printPersonPage({ ...about, json, parts, hidden })] };
}

/** An entry that is left out if it has no lines. */
async function* counted(
  parts: ArchivedPart[],
  path: string,
  title: string,
  lines: AsyncGenerator<string, void>,
): AsyncGenerator<ZipEntry, void> {
  const first = await lines.next();
  if (first.done) return;
  let count = 1;
  async function* content(): AsyncGenerator<string, void> {
    yield `${first.value}\n`;
    for await (const line of lines) {
      count += 1;
      yield `${line}\n`;
    }
  }
  yield { path, content: content() };
  // The writer has read an entry to its end when it requests the next one.
  parts.push({ path, title, lines: count });
}

async function* recordLines(
  { store }: PersonArchiveServices,
  scope: Scope,
  { collection, ids }: Belongings,
): AsyncGenerator<string, void> {
  for (let start = 0; start < ids.length; start += BATCH_RECORDS) {
    const values = ids.slice(start, start + BATCH_RECORDS);
    const filter: Filter = { kind: 'in', path: ['_id'], values };
    const lines = await text(store.find(scope, { ...queryOf(collection.name), filter }).stream('ndjson'));
    yield* lines.split('\n').filter(Boolean);
  }
}

async function* historyLines(
  { store }: PersonArchiveServices,
  scope: Scope,
  { collection, ids }: Belongings,
): AsyncGenerator<string, void> {
  for (const id of ids) {
    let after: number | undefined;
    for (;;) {
      const query = { id, after, limit: HISTORY_PAGE };
      const { rows: versions, hasNextPage } = await store.history(scope, collection.name, query);
      for (const { at, changes, ...version } of versions) {
        yield printExactJson({
          ...{ _id: id, version: version.version, operation: version.operation, at: at.toISOString() },
          changes: (changes ?? []).map(
            ({ kind, path, before, after }) => defined({ kind, path, before, after }) as JsonObject,
          ),
        });
      }
      after = versions.at(-1)?.version;
      if (!hasNextPage) break;
    }
  }
}

/** Names these records without their contents, which belong to somebody else. */
async function* mentionLines(
  { database, catalog }: PersonArchiveServices,
  scope: Scope,
  { identity, belongings }: { readonly identity: PersonIdentity; readonly belongings: readonly Belongings[] },
): AsyncGenerator<string, void> {
  const redaction = new Redaction(identity, 'alone');
  const patterns = [...likePatterns([JSON.stringify(identity.id)]), ...redaction.patterns];
  const own = new Set(
    belongings.flatMap(({ collection, ids }) => ids.map((id) => `${collection.name}/${id}`)),
  );
  own.add(`${identity.collection}/${identity.id}`);
  const rows = await database.query<{ collection: string; id: string; json: string }>(sql`
    select r.collection, r.id, r.data::text as json
    from records r
    where r.domain = ${scope.domain.id} and r.deleted_at is null
      and lower(r.data::text) like any(${patterns}::text[])
    order by r.collection, r.id
    limit ${MOST_MENTIONS}`);
  for (const { collection: name, id, json } of rows) {
    if (own.has(`${name}/${id}`)) continue;
    const collection: Collection | undefined = catalog.find(name);
    if (collection === undefined || findAccess(scope, collection, 'read') === undefined) continue;
    if (redaction.isNamedIn(json, referencePathsTo(identity.collection, collection))) {
      yield printExactJson({ collection: name, _id: id });
    }
  }
}

/** A user may be mentioned very often: a clerk, for example, in every receipt. */
const MOST_MENTIONS = 100_000;

interface Trace {
  readonly path: string;
  readonly title: string;
  /** Returns one column, `line`. */
  readonly statement: Sql;
}

function tracesOf({ domain }: Scope, identity: PersonIdentity): readonly Trace[] {
  const { patterns } = new Redaction(identity, 'alone');
  return [
    {
      path: 'messages.ndjson',
      title: 'Messages to the person and about it',
      statement: sql`
        select json_build_object('id', m.id, 'kind', m.kind, 'state', m.state, 'recipients', m.recipients,
          'subject', m.subject, 'content', m.content, 'createdAt', m.created_at, 'sentAt', m.sent_at)::text
          as line
        from messages m
        where m.domain = ${domain.id}
          and lower(concat_ws(' ', m.key, m.content::text, array_to_string(m.recipients, ' ')))
            like any(${patterns}::text[])
        order by m.id`,
    },
    {
      path: 'script-log.ndjson',
      title: 'Lines that scripts have logged about the person',
      statement: sql`
        select json_build_object('at', l.at, 'script', l.script, 'message', l.message, 'data', l.data)::text
          as line
        from script_log l
        where l.domain_id = ${domain.id}
          and lower(concat_ws(' ', l.message, l.data::text)) like any(${patterns}::text[])
        order by l.id`,
    },
    {
      path: 'sign-ins.ndjson',
      title: 'Sign-ins of the user',
      statement: sql`
        select json_build_object('createdAt', s.created_at, 'expiresAt', s.expires_at,
          'revokedAt', s.revoked_at)::text as line
        from sessions s
        where ${identity.collection} = 'pltf_user' and s.domain_id = ${domain.id}
          and s.user_id = ${identity.id}
        order by s.created_at`,
    },
    {
      path: 'api-keys.ndjson',
      title: 'API keys of the user, without the keys',
      statement: sql`
        select json_build_object('name', k.name, 'scopes', k.scopes, 'createdAt', k.created_at,
          'lastUsedAt', k.last_used_at)::text as line
        from api_keys k
        where ${identity.collection} = 'pltf_user' and k.domain_id = ${domain.id}
          and k.user_id = ${identity.id}
        order by k.created_at`,
    },
  ];
}

async function* rowLines(database: Database, statement: Sql): AsyncGenerator<string, void> {
  for await (const lines of database.stream(statement)) yield* lines;
}

async function* fileEntries(
  { database, files }: PersonArchiveServices,
  scope: Scope,
  parts: ArchivedPart[],
  belongings: readonly Belongings[],
): AsyncGenerator<ZipEntry, void> {
  for (const { collection, ids } of belongings) {
    const withFiles = await database.query<{ record_id: string }>(sql`
      select distinct record_id
      from files
      where domain = ${scope.domain.id} and collection = ${collection.name} and state = 'ready'
        and record_id = any(${[...ids]}::text[])
      order by record_id`);
    for (const { record_id: recordId } of withFiles) {
      const filter = { link: { collection: collection.name, recordId } };
      let after: string | undefined;
      for (;;) {
        const page = await files.list(scope, { filter, after, limit: FILES_PAGE });
        for (const file of page.rows) {
          const path = `files/${file.id}-${file.name}`;
          yield { path, content: files.open(file, { signal: scope.call.signal }).stream };
          parts.push({ path, title: `A file of ${collection.title}`, lines: 1 });
        }
        after = page.rows.at(-1)?.id;
        if (!page.hasNextPage) break;
      }
    }
  }
}

interface PersonPage {
  readonly domain: string;
  readonly collection: Collection;
  readonly at: Date;
  /** The record of the person. */
  readonly json: string;
  readonly parts: readonly ArchivedPart[];
  /** The titles of collections that the caller may not read. */
  readonly hidden: readonly string[];
}

function printPersonPage({ domain, collection, at, json, parts, hidden }: PersonPage): string {
  const record = parseExactJson(json);
  const values = isJsonObject(record) ? Object.entries(record) : [];
  const rows = values.map(([name, value]) => {
    const meaning = collection.fieldsByName.get(name)?.description ?? '';
    const shown = typeof value === 'string' ? value : printExactJson(value);
    return `<tr><th>${escaped(name)}</th><td>${escaped(shown)}</td><td>${escaped(meaning)}</td></tr>`;
  });
  const listed = parts.map(({ path, title, lines }) => {
    const link = path.split('/').map(encodeURIComponent).join('/');
    const name = `<a href="${link}">${escaped(path)}</a>`;
    return `<tr><td>${name}</td><td>${escaped(title)}</td><td>${lines}</td></tr>`;
  });
  const left =
    hidden.length === 0 ? '' : `<p>Not in here, for want of a right: ${escaped(hidden.join(', '))}.</p>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Data of a person</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #ccc; padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
</style>
<h1>What ${escaped(domain)} keeps of a person</h1>
<p>Written on ${at.toISOString()}, from ${escaped(collection.title)}.</p>
<h2>The record</h2>
<table>${rows.join('\n')}</table>
<h2>What else there is</h2>
<p>Each file has one line a record, message or change, as JSON.</p>
<table><tr><th>file</th><th>what</th><th>lines</th></tr>
${listed.join('\n')}</table>
${left}
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
