/**
 * The stored scripts. Settings are held in memory and reloaded when any gateway saves one, so that a write
 * knows at no cost whether it triggers a script; code is read when it is needed.
 */

import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../../base/errors.js';
import { type Domain, type Scope, topDomainIdOf } from '../../../base/model/scope.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import { isAdmin } from '../../../store/access/access.js';
import type { Database } from '../../../store/database/database.js';
import type { Transaction } from '../../../store/database/queryable.js';
import { sql } from '../../../store/sql.js';
import type { WriteOperation, Writes } from '../../../store/writing/write-triggers.js';
import type { ExpectedRuns } from '../script-runner.js';
import { parseDeclaredField, type ScriptField } from './declared-field.js';
import {
  parseScript,
  type Script,
  type ScriptDefinition,
  type ScriptSettings,
  StoredSettings,
} from './script.js';

/** A script without its code. */
export type ScriptOutline = Omit<Script, 'code'>;

/** A script whose code declares a field. */
export interface DeclaringScript extends ScriptOutline {
  readonly field: ScriptField;
}

export interface ScriptVersion extends ScriptDefinition {
  readonly version: number;
  readonly savedAt: Date;
  readonly savedBy: string;
}

export interface ScriptsOptions {
  readonly database: Database;
  readonly maxCodeBytes: number;
  /** Checks that code can be parsed. @throws INVALID_VALUE with line and column */
  readonly checkCode: (source: { readonly name: string; readonly code: string }) => Promise<void>;
  /** The names of types and root fields that the schema has without scripts. */
  readonly schemaNames: () => Promise<ReadonlySet<string>>;
}

const CHANNEL = 'campus_scripts';
const KEPT_CODE_BYTES = 16_000_000;

export class Scripts {
  readonly #options: ScriptsOptions;
  readonly #codes = new LRUCache<string, string>({
    maxSize: KEPT_CODE_BYTES,
    sizeCalculation: (code) => Math.max(1, code.length),
  });
  #index: ScriptIndex = new ScriptIndex([]);
  #reading: Promise<unknown> = Promise.resolve();
  #stopListening: () => Promise<void> = async () => {};
  /** Called whenever a declared field is added, changed or removed, on any gateway. */
  readonly fieldListeners = new Set<() => void>();

  private constructor(options: ScriptsOptions) {
    this.#options = options;
  }

  /** Loads the settings of all scripts, and listens for changes until `close`. */
  static async load(options: ScriptsOptions): Promise<Scripts> {
    const scripts = new Scripts(options);
    scripts.#stopListening = await options.database.keepCurrent(CHANNEL, () => scripts.refresh());
    await scripts.refresh();
    return scripts;
  }

  async close(): Promise<void> {
    await this.#stopListening();
  }

  /** Reloads all settings, after a reload in progress: the last one to end is the last one begun. */
  async refresh(): Promise<void> {
    const reading = this.#reading.catch(() => {}).then(() => readOutlines(this.#options.database));
    this.#reading = reading;
    const index = new ScriptIndex(await reading);
    const isOther = printFields(index) !== printFields(this.#index);
    this.#index = index;
    if (isOther) for (const listener of this.fieldListeners) listener();
  }

  /** The scripts with a field that the caller may run, in every domain. */
  declaringFor(scope: Scope): readonly DeclaringScript[] {
    return this.#index.declaring.filter((script) => findRefusal(scope, script) === undefined);
  }

  /** The triggers of scripts. */
  get starts(): ScriptIndex {
    return this.#index;
  }

  /** The scripts of the domain that the caller may run, by name; all for an admin. */
  list(scope: Scope): readonly ScriptOutline[] {
    return this.#index
      .ofDomain(scope.domain.id)
      .filter((script) => isAdmin(scope.principal) || findRefusal(scope, script) === undefined);
  }

  /** A script with its code. @throws FORBIDDEN unless the caller is an admin; NOT_FOUND */
  async get(scope: Scope, name: string): Promise<Script> {
    assertMayEdit(scope);
    return await this.#withCode(this.#getOutline(scope, name));
  }

  /**
   * A script that the caller may run now. Scripts that the caller may not run are FORBIDDEN; their names are
   * not secret within the domain. One of the top domain that declares a field runs in its branches too; `of`
   * is the domain that has it.
   *
   * @throws NOT_FOUND; FORBIDDEN, also for a disabled script
   */
  async getRunnable(scope: Scope, name: string, within?: Transaction, of = scope.domain.id): Promise<Script> {
    const shared = this.#index.find(topDomainIdOf(scope.domain), name);
    const outline = this.#index.find(of, name) ?? (shared?.field && shared);
    if (outline === undefined) throw this.#notFound(scope, name);
    const refusal = findRefusal(scope, outline);
    if (refusal !== undefined) throw new ServiceError('FORBIDDEN', refusal);
    return await this.#withCode(outline, within);
  }

  /** A script to start by its own settings, without a caller. `undefined` if it was removed or disabled. */
  async findEnabled(domainId: string, name: string, within?: Transaction): Promise<Script | undefined> {
    const outline = this.#index.find(domainId, name);
    return outline?.isEnabled ? await this.#withCode(outline, within) : undefined;
  }

  /** The script that answers `/x/<name>`; `undefined` if there is none, or it is disabled. */
  findEndpoint(domainId: string, name: string): ScriptOutline | undefined {
    const outline = this.#index.find(domainId, name);
    return outline?.isEnabled && outline.endpoint !== undefined ? outline : undefined;
  }

  /**
   * Saves a script as a whole: settings that are not sent have their defaults. `ifVersion` is the version to
   * replace; 0 creates a new script.
   *
   * @throws FORBIDDEN unless the caller is an admin without an API key; INVALID_VALUE naming every fault,
   *   also in the code; VERSION_CONFLICT
   */
  async save(scope: Scope, sent: unknown, ifVersion?: number): Promise<Script> {
    assertMayEdit(scope);
    const definition = parseScript(sent, this.#options);
    const { name, code, ...settings } = definition;
    await this.#options.checkCode({ name, code });
    const domainId = scope.domain.id;
    const parse = (taken?: ReadonlySet<string>) =>
      parseDeclaredField({ name, code }, this.#whyNot(scope.domain, name, taken));
    // The schema is built only where something is declared.
    const field = parse() && parse(await this.#options.schemaNames());
    const [row] = await this.#options.database.query<
      Pick<Script, 'version' | 'owner' | 'createdAt' | 'updatedAt'>
    >(sql`
with last as (
  select coalesce(max(version), 0) as version
  from script_versions
  where domain_id = ${domainId} and name = ${name}
),
saved as (
  insert into scripts (domain_id, name, version, code, settings, owner, updated_by)
  select ${domainId}, ${name}, last.version + 1, ${code}, ${JSON.stringify({ ...settings, field })}::jsonb,
    ${scope.principal.id}, ${scope.principal.id}
  from last
  where ${ifVersion ?? null}::int is null or ${ifVersion ?? null}::int = coalesce(
    (select s.version from scripts s where s.domain_id = ${domainId} and s.name = ${name}), 0)
  on conflict (domain_id, name) do update
  set version = scripts.version + 1, code = excluded.code, settings = excluded.settings,
    updated_at = now(), updated_by = excluded.updated_by
  where ${ifVersion ?? null}::int is null or scripts.version = ${ifVersion ?? null}::int
  returning *
),
kept as (
  insert into script_versions (domain_id, name, version, code, settings, saved_at, saved_by)
  select domain_id, name, version, code, settings, updated_at, updated_by
  from saved
)
select version, owner, created_at as "createdAt", updated_at as "updatedAt",
  pg_notify(campus_channel(${CHANNEL}), '') as announced
from saved`);
    if (row === undefined) throw versionConflict(name, this.#index.find(domainId, name), ifVersion);
    await this.refresh();
    const { version, owner, createdAt, updatedAt } = row;
    const saved = { version, owner, createdAt, updatedAt, updatedBy: scope.principal.id };
    return { ...definition, ...saved, domainId, field };
  }

  /** Removes a script; its versions and runs remain. @throws FORBIDDEN, NOT_FOUND */
  async remove(scope: Scope, name: string): Promise<void> {
    assertMayEdit(scope);
    this.#getOutline(scope, name);
    await this.#options.database.query(sql`
with removed as (
  delete from scripts
  where domain_id = ${scope.domain.id} and name = ${name}
)
select pg_notify(campus_channel(${CHANNEL}), '') as announced`);
    await this.refresh();
  }

  /** The versions of a script, newest first, also after its removal. @throws FORBIDDEN; NOT_FOUND */
  async versions(scope: Scope, name: string, limit: number): Promise<readonly ScriptVersion[]> {
    assertMayEdit(scope);
    const rows = await this.#options.database.prisma.scriptVersion.findMany({
      where: { domainId: scope.domain.id, name },
      orderBy: { version: 'desc' },
      take: limit,
    });
    if (rows.length === 0) throw this.#notFound(scope, name);
    return rows.map(({ settings, code, version, savedAt, savedBy }) => ({
      ...StoredSettings.parse(settings),
      ...{ name, code, version, savedAt, savedBy },
    }));
  }

  /** Why a script may not declare a field or type of this name. */
  #whyNot({ id, parentId }: Domain, script: string, taken: ReadonlySet<string> | undefined) {
    const others = this.#index.declaring.filter((one) => one.domainId !== id || one.name !== script);
    const names = new Set(others.flatMap(({ field }) => [field.name, ...field.types]));
    return (name: string): string | undefined => {
      if (parentId !== undefined)
        return 'only scripts of the top domain declare a field: it is for all domains';
      return names.has(name) || taken?.has(name) ? `the schema has the name "${name}" already` : undefined;
    };
  }

  #getOutline(scope: Scope, name: string): ScriptOutline {
    const outline = this.#index.find(scope.domain.id, name);
    if (outline === undefined) throw this.#notFound(scope, name);
    return outline;
  }

  #notFound(scope: Scope, name: string): ServiceError {
    const names = this.list(scope).map((script) => script.name);
    return new ServiceError('NOT_FOUND', `there is no script "${name}".${didYouMean(name, names)}`);
  }

  async #withCode(outline: ScriptOutline, within?: Transaction): Promise<Script> {
    const { domainId, name, version } = outline;
    const key = `${domainId} ${name} ${version}`;
    const kept = this.#codes.get(key);
    if (kept !== undefined) return { ...outline, code: kept };
    const [found] = await (within ?? this.#options.database).query<{ code: string }>(sql`
      select code
      from script_versions
      where domain_id = ${domainId} and name = ${name} and version = ${version}`);
    if (found === undefined) throw new ServiceError('NOT_FOUND', `there is no script "${name}"`);
    this.#codes.set(key, found.code);
    return { ...outline, code: found.code };
  }
}

function printFields({ declaring }: ScriptIndex): string {
  return JSON.stringify(declaring.map((one) => [one.domainId, one.name, one.description, one.field]));
}

/** All scripts of a gateway, and those among them that are enabled and start by themselves. */
class ScriptIndex {
  readonly #byDomain = new Map<string, Map<string, ScriptOutline>>();
  readonly #started = new Map<string, ScriptOutline[]>();
  readonly scheduled: ScriptOutline[] = [];
  readonly declaring: DeclaringScript[] = [];
  /** The collections with `before` scripts, by domain. */
  readonly #withBefore = new Map<string, Set<string>>();
  #isAnyEnabled = false;

  constructor(outlines: readonly ScriptOutline[]) {
    for (const outline of outlines) {
      const { domainId, name, field } = outline;
      getOrMake(this.#byDomain, domainId, () => new Map()).set(name, outline);
      if (!outline.isEnabled) continue;
      this.#isAnyEnabled = true;
      for (const start of startsOf(outline)) getOrMake(this.#started, start, () => []).push(outline);
      if (outline.schedule !== undefined) this.scheduled.push(outline);
      if (field !== undefined) this.declaring.push({ ...outline, field });
      for (const { collection } of outline.before) {
        getOrMake(this.#withBefore, domainId, () => new Set()).add(collection);
      }
    }
  }

  /** The runs to expect, which decide whether threads are kept ready. */
  get expectedRuns(): ExpectedRuns {
    return { ofAnyKind: this.#isAnyEnabled, withinWrites: this.#withBefore.size > 0 };
  }

  ofDomain(domainId: string): readonly ScriptOutline[] {
    return [...(this.#byDomain.get(domainId)?.values() ?? [])];
  }

  find(domainId: string, name: string): ScriptOutline | undefined {
    return this.#byDomain.get(domainId)?.get(name);
  }

  /** Whether any `before` script exists for one of these collections. */
  mayAsk(domainId: string, writes: Writes): boolean {
    const collections = this.#withBefore.get(domainId);
    if (collections === undefined) return false;
    return writes === 'anything' || writes.some((collection) => collections.has(collection));
  }

  /** The scripts that a write starts, or a message of a topic. */
  startedBy(
    ...start:
      | [when: 'before' | 'after', domainId: string, collection: string, WriteOperation]
      | [when: 'topic', domainId: string, topic: string]
  ): readonly ScriptOutline[] {
    // Called for every write, and most schools have no triggered script.
    if (this.#started.size === 0) return NONE;
    return this.#started.get(JSON.stringify(start)) ?? NONE;
  }
}

const NONE: readonly ScriptOutline[] = [];

function startsOf({ domainId, before, after, topics }: ScriptOutline): readonly string[] {
  const writes = (kind: 'before' | 'after', triggers: ScriptSettings['before']) =>
    triggers.flatMap(({ collection, operations }) =>
      operations.map((operation) => [kind, domainId, collection, operation]),
    );
  const starts = [
    ...writes('before', before),
    ...writes('after', after),
    ...topics.map((topic) => ['topic', domainId, topic]),
  ];
  return [...new Set(starts.map((start) => JSON.stringify(start)))];
}

/** A row of `scripts` without its code. */
interface OutlineRow extends Omit<ScriptOutline, keyof ScriptSettings> {
  readonly settings: unknown;
}

async function readOutlines(database: Database): Promise<readonly ScriptOutline[]> {
  // Plain SQL, because every start reads them, and the first use of a model loads Prisma's query compiler.
  const rows = await database.query<OutlineRow>(
    sql`
      select
        domain_id as "domainId", name, version, settings, owner,
        created_at as "createdAt", updated_at as "updatedAt", updated_by as "updatedBy"
      from scripts
      order by domain_id, name
    `,
  );
  return rows.map(({ settings, ...row }) => ({ ...row, ...StoredSettings.parse(settings) }));
}

/** @throws FORBIDDEN unless the caller is an admin without an API key */
export function assertMayEdit(scope: Scope): void {
  if (isAdmin(scope.principal)) return;
  throw new ServiceError('FORBIDDEN', 'Only an admin, after logging in, may read, save and try out scripts.');
}

function findRefusal({ principal, domain }: Scope, script: ScriptOutline): string | undefined {
  if (![domain.id, topDomainIdOf(domain)].includes(script.domainId)) return 'this is of another school';
  if (!script.isEnabled) return `the script "${script.name}" is not enabled`;
  const { scripts } = principal.scopes ?? {};
  if (scripts !== undefined && !scripts.includes('*') && !scripts.includes(script.name)) {
    return `the API key may not run the script "${script.name}"`;
  }
  const mayRun = principal.roles.has('admin') || script.roles.some((role) => principal.roles.has(role));
  return mayRun ? undefined : `you may not run the script "${script.name}"`;
}

function versionConflict(
  name: string,
  present: ScriptOutline | undefined,
  ifVersion: number | undefined,
): ServiceError {
  const version = present?.version ?? 0;
  return new ServiceError(
    'VERSION_CONFLICT',
    `the script "${name}" has version ${version}, not ${ifVersion ?? version}`,
    { errors: [{ detail: 'read it again and decide anew', expected: String(version), sent: ifVersion }] },
  );
}
