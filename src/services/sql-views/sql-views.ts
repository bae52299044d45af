/**
 * Offers the records of a school to programs that read SQL: a schema of views for a role of the school, or
 * for one of its users, and a PostgreSQL login that may read these views and nothing else. The views apply
 * the rights to fields and rows that the declarations give the role; PostgreSQL itself keeps the login from
 * everything else in the database.
 *
 * The comment of a schema names its audience, the comment of a view has a fingerprint of its definition. So
 * the database itself knows which views exist and which of them a declaration has changed.
 */
import { createHash, createHmac, hash, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { ServiceError } from '../../base/errors.js';
import { defined } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Domain } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import type { Queryable } from '../../store/database/queryable.js';
import { DEFINE_EVERYWHERE, DEFINE_HERE } from '../../store/database/shards/table-places.js';
import { type Sql, sql } from '../../store/sql.js';
import { rehearse } from '../../store/writing/atomically.js';
import { listsOfObjects } from '../exporting/record-columns.js';
import {
  type Audience,
  type CompiledView,
  compileView,
  definitionText,
  describeAudience,
  runDefinitions,
  shortName,
  sqlName,
} from './compile-view.js';

interface SqlViewsOptions {
  readonly database: Database;
  readonly collections: { list(): readonly Collection[] };
  /**
   * Whether a view reads the tables itself, or through a function with the rights of the gateway's user.
   * Default: through a function on Citus, which runs the statement of a view on the other servers as the
   * login, and the login may not read the tables there.
   */
  readonly reading?: Reading;
}

type Reading = 'directly' | 'through functions';

/** The change to a view. */
export interface ViewChange {
  readonly view: string;
  readonly change: 'made' | 'changed' | 'kept' | 'removed';
  /** The columns that are added and removed. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface AudienceChange {
  readonly audience: Audience;
  /** The name of the login and of its schema. */
  readonly login: string;
  readonly change: 'made' | 'renewed' | 'removed';
  /** The password of a new login, or a requested new one. It is stored nowhere. */
  readonly password: string | undefined;
  readonly views: readonly ViewChange[];
}

interface ApplyOptions {
  readonly audiences: readonly Audience[];
  /** `tried` does everything and rolls it back. */
  readonly mode: 'done' | 'tried';
  readonly passwords: 'kept' | 'new';
}

/** Whom a schema is for, according to its comment. */
interface Mark {
  readonly campusSqlViews: 1;
  readonly domain: string;
  readonly role?: string;
  readonly user?: string;
}

interface PresentView {
  readonly name: string;
  readonly comment: string | null;
  readonly columns: readonly string[];
}

export class SqlViews {
  readonly #database: Database;
  readonly #collections: SqlViewsOptions['collections'];
  readonly #reading: Reading;

  constructor({ database, collections, reading }: SqlViewsOptions) {
    this.#database = database;
    this.#collections = collections;
    this.#reading = reading ?? (database.shards === undefined ? 'directly' : 'through functions');
  }

  /** The audiences that have views of a domain: names of roles and ids of users. */
  async list(domain: Domain): Promise<readonly { readonly role?: string; readonly user?: string }[]> {
    const rows = await this.#database.query<{ comment: string }>(sql`
      select obj_description(n.oid, 'pg_namespace') as comment
      from pg_namespace n
      where obj_description(n.oid, 'pg_namespace') like '{"campusSqlViews"%'
      order by n.nspname`);
    return rows
      .map(({ comment }): Mark => JSON.parse(comment))
      .filter((mark) => mark.domain === domain.id)
      .map(({ role, user }) => defined({ role, user }));
  }

  /**
   * Creates login, schema and views of each audience, or updates them to the current declarations; all or
   * none.
   *
   * @throws CONFLICT if a login or schema of that name was not made by the gateway; FORBIDDEN if the
   * gateway's own login may not create logins
   */
  async apply({ audiences, mode, passwords }: ApplyOptions): Promise<readonly AudienceChange[]> {
    return await this.#inTransaction(mode, async (database) => {
      const changes: AudienceChange[] = [];
      await withholdLocks(database);
      for (const audience of audiences) {
        const login = await this.#loginOf(audience);
        const isThere = await this.#isOurs(database, login, audience);
        const password = isThere && passwords === 'kept' ? undefined : randomBytes(24).toString('base64url');
        await prepareLogin(database, { login, audience, isThere, password });
        const views = await this.#renewViews(database, login, audience);
        changes.push({ audience, login, change: isThere ? 'renewed' : 'made', password, views });
      }
      return changes;
    });
  }

  /** Removes login, schema and views of each audience. */
  async drop({
    audiences,
    mode,
  }: Pick<ApplyOptions, 'audiences' | 'mode'>): Promise<readonly AudienceChange[]> {
    return await this.#inTransaction(mode, async (database) => {
      const changes: AudienceChange[] = [];
      for (const audience of audiences) {
        const login = await this.#loginOf(audience);
        if (!(await this.#isOurs(database, login, audience))) {
          throw new ServiceError('NOT_FOUND', `There are no SQL views for ${describeAudience(audience)}.`);
        }
        const views = (await listViews(database, login)).map(({ name, columns }): ViewChange => {
          return { view: name, change: 'removed', added: [], removed: columns };
        });
        for (const { view } of views) await dropView(database, login, view);
        const name = sqlName(login);
        await runDefinitions(database, sql`drop schema ${name}`, sql`drop role ${name}`);
        changes.push({ audience, login, change: 'removed', password: undefined, views });
      }
      return changes;
    });
  }

  async #inTransaction<Result>(
    mode: ApplyOptions['mode'],
    work: (database: Queryable) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#database.transaction(async (transaction) => {
        const run = () => work(transaction);
        return await (mode === 'tried' ? rehearse(transaction, run) : run());
      });
    } catch (error) {
      throw toRefusal(error);
    }
  }

  /** All databases of a server share its logins, so the name contains the database. */
  async #loginOf(audience: Audience): Promise<string> {
    const [row] = await this.#database.query<{ name: string }>(sql`select current_database() as name`);
    const who = audience.kind === 'role' ? audience.role : `user_${audience.userName}`;
    return shortName(['bi', row?.name ?? '', audience.domain.id, who].join('_'));
  }

  /** @throws CONFLICT */
  async #isOurs(database: Queryable, login: string, audience: Audience): Promise<boolean> {
    const [row] = await database.query<{ isLogin: boolean; isSchema: boolean; comment: string | null }>(
      sql`
        select
          exists (select from pg_roles where rolname = ${login}) as "isLogin",
          exists (select from pg_namespace where nspname = ${login}) as "isSchema",
          (
            select obj_description(n.oid, 'pg_namespace') from pg_namespace n where n.nspname = ${login}
          ) as comment`,
    );
    if (row?.comment === printMark(audience) && row.isLogin) return true;
    if (!row?.isLogin && !row?.isSchema) return false;
    const detail = `There is a login or schema "${login}" that is not for ${describeAudience(audience)}.`;
    throw new ServiceError('CONFLICT', detail);
  }

  async #renewViews(database: Queryable, login: string, audience: Audience): Promise<readonly ViewChange[]> {
    const collections = this.#collections.list();
    const presentByName = new Map((await listViews(database, login)).map((view) => [view.name, view]));
    const changes: ViewChange[] = [];
    const taken = new Set(collections.map(({ name }) => name));
    const offered = collections.flatMap((collection) => [
      { collection, name: collection.name },
      ...listsOfObjects(collection)
        .map((list) => ({ collection, list, name: `${collection.name}_${list}` }))
        .filter(({ name }) => !taken.has(name)),
    ]);
    for (const { collection, name: fullName, ...of } of offered) {
      const compiled = compileView(audience, collection, { collections, ...of });
      if (compiled === undefined) continue;
      const name = shortName(fullName);
      const present = presentByName.get(name);
      presentByName.delete(name);
      changes.push(await this.#renewView(database, { login, name, compiled, present }));
    }
    for (const { name, columns } of presentByName.values()) {
      await dropView(database, login, name);
      changes.push({ view: name, change: 'removed', added: [], removed: columns });
    }
    return changes;
  }

  async #renewView(
    database: Queryable,
    options: ViewOptions & { readonly present: PresentView | undefined },
  ): Promise<ViewChange> {
    const { login, name, compiled, present } = options;
    const isDirect = this.#reading === 'directly';
    const key = `${definitionText(compiled.select)}${isDirect ? '' : ' by a function, collated'}`;
    const described = compiled.columns.map(({ name: column, description }) => [column, description] as const);
    const texts = JSON.stringify([compiled.description, described]);
    const comment = `${compiled.description}\n\ncampus sql-views ${hash('sha256', key + texts, 'hex')}`;
    const columns = compiled.columns.map((column) => column.name);
    const before = present?.columns ?? [];
    const change = {
      view: name,
      added: columns.filter((column) => !before.includes(column)),
      removed: before.filter((column) => !columns.includes(column)),
    };
    if (present?.comment === comment) return { ...change, change: 'kept' };
    const view = sql`${sqlName(login)}.${sqlName(name)}`;
    if (present) await dropView(database, login, name);
    await this.#defineHere(database, async () => {
      const source = isDirect ? compiled.select : await makeFunction(database, options);
      await runDefinitions(
        database,
        sql`create view ${view} with (security_barrier = true) as ${source}`,
        sql`comment on view ${view} is ${comment}`,
        ...described
          .filter(([, description]) => description !== '')
          .map(([column, text]) => sql`comment on column ${view}.${sqlName(column)} is ${text}`),
        sql`grant select on ${view} to ${sqlName(login)}`,
      );
    });
    return { ...change, change: present ? 'changed' : 'made' };
  }

  /**
   * Runs definitions for the server that programs connect to. Citus would pass them on to the other servers,
   * but with names of schemas and functions that it does not quote.
   */
  async #defineHere(database: Queryable, define: () => Promise<void>): Promise<void> {
    const isSharded = this.#database.shards !== undefined;
    if (isSharded) await database.query(sql.raw(DEFINE_HERE));
    await define();
    if (isSharded) await database.query(sql.raw(DEFINE_EVERYWHERE));
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';
const DEPENDENT_OBJECTS = '2BP01';

/** Tells what the administrator of the database has to do first. */
function toRefusal(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === INSUFFICIENT_PRIVILEGE) {
    const detail =
      `The database does not let the gateway do this: ${error.message}. Its login needs to make roles and ` +
      'schemas: alter role … createrole; grant create on database … to ….';
    return new ServiceError('FORBIDDEN', detail, { cause: error });
  }
  if (error.code !== DEPENDENT_OBJECTS) return error;
  const detail = `${error.message}. End its sessions first, and take away what was made of its views.`;
  return new ServiceError('CONFLICT', detail, { cause: error });
}

function printMark(audience: Audience): string {
  const whom = audience.kind === 'role' ? { role: audience.role } : { user: audience.userId };
  const mark: Mark = { campusSqlViews: 1, domain: audience.domain.id, ...whom };
  return JSON.stringify(mark);
}

/**
 * Takes the functions of advisory locks from all roles except superusers and the owner of the database, if
 * the gateway's user may do so: with them a login could hold the locks for which the gateway waits. The owner
 * keeps them, because the gateway may connect as the owner.
 */
async function withholdLocks(database: Queryable): Promise<void> {
  const functions = await database.query<{ name: string; owner: string }>(sql`
    select f.oid::regprocedure::text as name, d.datdba::regrole::text as owner
    from pg_proc f
    cross join lateral aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as granted
    join pg_roles me on me.rolname = current_user and me.rolsuper
    join pg_database d on d.datname = current_database()
    where f.pronamespace = 'pg_catalog'::regnamespace and f.proname ~ '^pg_(try_)?advisory_'
      and granted.grantee = 0 and granted.privilege_type = 'EXECUTE'`);
  for (const { name, owner } of functions) {
    await database.query(sql.raw(`grant execute on function ${name} to ${owner}`));
    await database.query(sql.raw(`revoke execute on function ${name} from public`));
  }
}

/** With these a session begins. The login may change them; `endLongSessions` keeps the limits of time. */
const SETTINGS = [
  'default_transaction_read_only = on',
  "statement_timeout = '60s'",
  "idle_in_transaction_session_timeout = '60s'",
  "work_mem = '16MB'",
];
/** Only a superuser may set or change these. */
const FIXED_SETTINGS = ["temp_file_limit = '2GB'"];
/** Longer than the limits that a session begins with, so that it meets those first. */
const LONGEST_SECONDS = 75;

/**
 * Ends sessions of the logins whose statement runs, or whose transaction is idle, for longer than they may:
 * a login can lift the limits that PostgreSQL keeps. Does nothing if the gateway's user may not end them.
 * Returns their number.
 */
export async function endLongSessions(
  database: Pick<Database, 'query'>,
  longestSeconds = LONGEST_SECONDS,
): Promise<number> {
  const ended = await database.query<{ isEnded: boolean }>(sql`
    select pg_terminate_backend(a.pid) as "isEnded"
    from pg_stat_activity a
    join pg_namespace n on n.nspname = a.usename
    where a.datname = current_database()
      and obj_description(n.oid, 'pg_namespace') like '{"campusSqlViews"%'
      and a.state <> 'idle'
      and (pg_has_role(a.usesysid, 'USAGE') or pg_has_role('pg_signal_backend', 'USAGE'))
      and case a.state when 'active' then a.query_start else a.state_change end
        < now() - ${longestSeconds}::float8 * interval '1 second'`);
  return ended.length;
}

async function prepareLogin(
  database: Queryable,
  options: {
    readonly login: string;
    readonly audience: Audience;
    readonly isThere: boolean;
    readonly password: string | undefined;
  },
): Promise<void> {
  const { audience, isThere, password } = options;
  const login = sqlName(options.login);
  if (!isThere) {
    await runDefinitions(
      database,
      sql`create role ${login} login noinherit nosuperuser nocreatedb nocreaterole noreplication
        connection limit 20`,
      sql`create schema ${login}`,
      sql`comment on schema ${login} is ${printMark(audience)}`,
      sql`grant usage on schema ${login} to ${login}`,
    );
  }
  const [me] = await database.query<{ isSuperuser: boolean }>(sql`
    select rolsuper as "isSuperuser" from pg_roles where rolname = current_user`);
  const settings = me?.isSuperuser === true ? [...SETTINGS, ...FIXED_SETTINGS] : SETTINGS;
  for (const setting of [`search_path = ${pg.escapeIdentifier(options.login)}`, ...settings]) {
    await runDefinitions(database, sql`alter role ${login} set ${sql.raw(setting)}`);
  }
  if (password === undefined) return;
  await runDefinitions(database, sql`alter role ${login} password ${scramVerifier(password)}`);
}

async function listViews(database: Queryable, schema: string): Promise<readonly PresentView[]> {
  return await database.query<PresentView>(sql`
    select c.relname as name, obj_description(c.oid, 'pg_class') as comment,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        order by a.attnum
      ) as columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind = 'v'
    order by c.relname`);
}

interface ViewOptions {
  /** Also the name of its schema. */
  readonly login: string;
  readonly name: string;
  readonly compiled: CompiledView;
}

/**
 * Makes the function that a view of the same name reads, with the rights of the gateway's user. Returns the
 * statement that reads it.
 */
async function makeFunction(database: Queryable, { login, name, compiled }: ViewOptions): Promise<Sql> {
  const called = sql`${sqlName(login)}.${sqlName(name)}()`;
  const [place] = await database.query<{ schema: string }>(sql`select current_schema()::text as schema`);
  const columns = compiled.columns.map((column) => sql`${sqlName(column.name)} ${column.type}`);
  await runDefinitions(
    database,
    sql`create function ${called} returns table (${sql.join(columns)})
      language sql stable security definer set search_path = ${sqlName(place?.schema ?? '')}, pg_temp
      as ${definitionText(compiled.select)}`,
    sql`revoke all on function ${called} from public`,
    sql`grant execute on function ${called} to ${sqlName(login)}`,
  );
  const selected = compiled.columns.map(({ name: column, isByteOrdered }) =>
    isByteOrdered ? sql`${sqlName(column)} collate "C" as ${sqlName(column)}` : sqlName(column),
  );
  return sql`select ${sql.join(selected)} from ${called}`;
}

/** Removes a view, and its function if it reads through one. */
async function dropView(database: Queryable, schema: string, name: string): Promise<void> {
  const qualified = sql`${sqlName(schema)}.${sqlName(name)}`;
  await runDefinitions(database, sql`drop view ${qualified}`, sql`drop function if exists ${qualified}()`);
}

const ITERATIONS = 4096;

/** The password must be ASCII, which needs no preparation. @see RFC 5803 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
