/**
 * Exports and erases the data of a person. An erasure runs in steps, each all or nothing; a preview of it is
 * made by running them and rolling everything back.
 *
 * An erasure that a fault interrupted continues where it stopped when it is requested again.
 */

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { ServiceError } from '../../base/errors.js';
import { defined, parsePlainJson, printExactJson } from '../../base/json/json.js';
import { toAbortSignal } from '../../base/model/end-signal.js';
import { type Scope, systemPrincipal } from '../../base/model/scope.js';
import { printZip } from '../../base/tables/print-zip.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { Queryable, Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction, rehearse } from '../../store/writing/atomically.js';
import { USER_COLLECTION } from '../../store/writing/record-statements.js';
import type { Files } from '../files/files.js';
import { eraseRecords } from './erase-records.js';
import { eraseAccess, eraseMessages, eraseTraces } from './erase-traces.js';
import {
  type DoneErasure,
  ErasureEntry,
  ErasureReport,
  type ErasureWork,
  identifyPerson,
  PersonIdentity,
  type PersonKey,
  personCollection,
  Redaction,
} from './identity.js';
import { listPersonFiles, type PersonArchiveServices } from './person-files.js';

/** The result, or in a dry run the expected result. */
export interface Erasure {
  /** The name under which kept data appears instead of the person. */
  readonly pseudonym: string;
  readonly entries: readonly ErasureEntry[];
  /** Values that others share: replaced in what belongs to the person, and not searched for elsewhere. */
  readonly shared: readonly string[];
}

interface PersonsServices extends PersonArchiveServices {
  /** Whether the file of an import contains, or may contain, a text. */
  readonly findInImportFile: (search: {
    readonly id: string;
    readonly signal: AbortSignal;
    readonly isFound: (text: string) => boolean;
  }) => Promise<boolean>;
}

/** The steps in order. The last ones find what is written about the person while the others run. */
const STEPS: readonly ((work: ErasureWork) => Promise<void>)[] = [
  eraseAccess,
  eraseRecords,
  eraseMessages,
  eraseTraces,
  eraseRecords,
];

export class Persons {
  readonly #services: PersonsServices;

  constructor(services: PersonsServices) {
    this.#services = services;
  }

  /**
   * Exports everything that is stored about a person as a zip file of readable pages and lines. The audit
   * trail notes the export before the first byte.
   *
   * @throws as `erase`, before the first byte
   */
  async export(scope: Scope, key: PersonKey): Promise<AsyncIterable<Uint8Array>> {
    const { database, catalog } = this.#services;
    const pseudonym = newPseudonym();
    await identifyPerson(database, scope, { catalog, key, pseudonym });
    await database.query(auditedAct(scope, { ...key, operation: 'exported' }));
    const at = new Date();
    return printZip(listPersonFiles(this.#services, scope, { ...key, at }), at);
  }

  /**
   * Tells exactly what an erasure would remove, replace and keep, by running it and rolling it back.
   *
   * @throws as `erase`
   */
  async planErasure(scope: Scope, key: PersonKey): Promise<Erasure> {
    const { database, catalog } = this.#services;
    const report = new ErasureReport();
    const identity = await this.#identify(database, scope, key, newPseudonym());
    const importsNaming = await this.#searchImports(scope, identity);
    const isToOutbox = database.announcesByOutbox;
    const planned = { scope, catalog, identity, importsNaming, report, isToOutbox };
    await inOwnTransaction(database, (transaction) =>
      rehearse(transaction, async () => {
        for (const step of STEPS) await step({ ...planned, transaction });
      }),
    );
    return toErasure(identity, report.entries);
  }

  /**
   * Erases a person for good. Called again after a fault, it continues where it stopped.
   *
   * @throws FORBIDDEN unless the caller is an admin without an API key; NOT_FOUND for a record that does not
   * exist or was erased; INVALID_VALUE for a collection whose records are not persons; CONFLICT for the
   * caller itself, and for a user in whose name scripts still run
   */
  async erase(scope: Scope, key: PersonKey, pseudonym = newPseudonym()): Promise<Erasure> {
    const { database, catalog, files } = this.#services;
    const { id, identity } = await this.#begin(scope, key, pseudonym);
    // Reading files may take long, so no transaction is open meanwhile.
    const importsNaming = await this.#searchImports(scope, identity);
    const known = { scope, catalog, identity, importsNaming, isToOutbox: database.announcesByOutbox };
    for (const [index, step] of STEPS.entries()) {
      scope.call.signal?.throwIfAborted();
      await inOwnTransaction(database, async (transaction) => {
        if (!(await isNext(transaction, id, index))) return;
        const report = new ErasureReport();
        await step({ ...known, transaction, report });
        const entries = printExactJson(report.entries.map(defined));
        await transaction.query(sql`
          update erasures
          set steps_done = ${index + 1}, report = report || ${entries}::jsonb
          where id = ${id}::uuid`);
      });
    }
    // The hourly purge deletes what cannot be deleted now because the bucket is out of reach.
    await purgeAll(files, scope);
    return await inOwnTransaction(database, (transaction) => end(transaction, scope, { id, identity }));
  }

  /** The completed erasures of the domain, to be repeated after an older backup is restored. */
  async listDone(scope: Scope): Promise<readonly DoneErasure[]> {
    const rows = await this.#services.database.prisma.erasure.findMany({
      where: { domain: scope.domain.id, endedAt: { not: null } },
      orderBy: [{ endedAt: 'asc' }, { id: 'asc' }],
      select: { domain: true, collection: true, person: true, pseudonym: true, endedAt: true },
    });
    return rows.map(({ endedAt, ...erasure }) => ({ ...erasure, at: endedAt?.toISOString() ?? '' }));
  }

  /**
   * Erases the persons of a list again whom a restored backup brought back: in the domain of the list, or
   * else in the top one. Returns their number. Called again after a fault, it continues.
   *
   * @throws the signal's reason
   */
  async eraseAgain(domains: Domains, list: readonly DoneErasure[], signal?: AbortSignal): Promise<number> {
    let erased = 0;
    for (const done of list) {
      signal?.throwIfAborted();
      const domain = domains.find(done.domain) ?? domains.top();
      if (domain === undefined) continue;
      const principal = systemPrincipal('command line', ['admin'], domain.id);
      const [person] = await this.#services.database.query<PersonKey>(sql`
        select r.collection, r.id
        from records r
        where r.domain = ${domain.id} and r.collection = ${done.collection}
          and encode(sha256(convert_to(r.collection || '/' || r.id, 'UTF8')), 'hex') = ${done.person}`);
      if (person === undefined) continue;
      await this.erase({ domain, principal, call: { requestId: randomUUID() } }, person, done.pseudonym);
      erased += 1;
    }
    return erased;
  }

  /** The imports whose files name the person. A later import is found by what is stored about it. */
  async #searchImports(scope: Scope, identity: PersonIdentity): Promise<readonly string[]> {
    const { database, findInImportFile } = this.#services;
    const redaction = new Redaction(identity, 'alone');
    const signal =
      scope.call.signal === undefined ? new AbortController().signal : toAbortSignal(scope.call.signal);
    const rows = await database.prisma.import.findMany({
      where: { domain: scope.domain.id, ownsFile: true },
      orderBy: { id: 'asc' },
      select: { id: true },
    });
    const found: string[] = [];
    for (const { id } of rows) {
      if (await findInImportFile({ id, signal, isFound: (text) => redaction.isIn(text) })) found.push(id);
    }
    return found;
  }

  async #begin(scope: Scope, key: PersonKey, pseudonym: string) {
    const { database, catalog } = this.#services;
    personCollection(scope, catalog, key.collection);
    const person = createHash('sha256').update(`${key.collection}/${key.id}`).digest('hex');
    const underWay = sql`domain = ${scope.domain.id} and collection = ${key.collection}
      and person = ${person} and ended_at is null`;
    return await inOwnTransaction(database, async (transaction) => {
      const [row] = await transaction.query<{ id: string; plan: string }>(
        sql`select id::text as id, plan::text as plan from erasures where ${underWay} for update`,
      );
      if (row !== undefined) return { id: row.id, identity: PersonIdentity.parse(parsePlainJson(row.plan)) };
      const identity = await this.#identify(transaction, scope, key, pseudonym);
      const id = uuidv7();
      const plan = printExactJson(identity);
      await transaction.query(sql`
        insert into erasures (id, domain, collection, person, pseudonym, plan, requested_by, request_id)
        values (${id}::uuid, ${scope.domain.id}, ${key.collection}, ${person}, ${identity.pseudonym},
          ${plan}::jsonb, ${scope.principal.id}, ${scope.call.requestId})`);
      return { id, identity };
    });
  }

  async #identify(db: Queryable, scope: Scope, key: PersonKey, pseudonym: string) {
    const { catalog } = this.#services;
    const identity = await identifyPerson(db, scope, { catalog, key, pseudonym });
    if (key.collection === USER_COLLECTION) await assertExpendable(db, scope, key.id);
    return identity;
  }
}

/** @throws CONFLICT */
async function assertExpendable(db: Queryable, { domain, principal }: Scope, id: string): Promise<void> {
  if (principal.kind === 'user' && principal.id === id) {
    throw new ServiceError('CONFLICT', 'you may not erase your own user; another admin may');
  }
  const scripts = await db.query<{ name: string }>(sql`
    select name from scripts where domain_id = ${domain.id} and owner = ${id} order by name`);
  if (scripts.length === 0) return;
  const names = scripts.map(({ name }) => name).join(', ');
  throw new ServiceError('CONFLICT', `scripts of this user are still there: ${names}`, {
    errors: [{ detail: 'they run in its name', expected: 'the scripts removed, or saved by somebody else' }],
  });
}

/** Whether a step is the next one. A second caller that waited for the first finds it done. */
async function isNext(transaction: Transaction, id: string, index: number): Promise<boolean> {
  const [row] = await transaction.query<{ steps_done: number; is_open: boolean }>(sql`
    select steps_done, ended_at is null as is_open from erasures where id = ${id}::uuid for update`);
  return row?.is_open === true && row.steps_done === index;
}

/** Records the erasure in the audit trail, and forgets who was erased. */
async function end(
  transaction: Transaction,
  scope: Scope,
  { id, identity }: { readonly id: string; readonly identity: PersonIdentity },
): Promise<Erasure> {
  const [row] = await transaction.query<{ report: string; is_open: boolean }>(sql`
    select report::text as report, ended_at is null as is_open
    from erasures
    where id = ${id}::uuid
    for update`);
  const entries = z.array(ErasureEntry).parse(parsePlainJson(row?.report ?? '[]'));
  if (row?.is_open) {
    // The ids of what was removed reveal too much: only the numbers are kept.
    const figures = entries.map(({ fate, place, count }) => ({ fate, place, count }));
    await transaction.query(sql`
      update erasures
      set ended_at = now(), plan = null, report = ${printExactJson(figures)}::jsonb
      where id = ${id}::uuid`);
    const erased = { collection: identity.collection, id: identity.pseudonym, operation: 'erased' as const };
    await transaction.query(auditedAct(scope, erased));
  }
  return toErasure(identity, entries);
}

function toErasure({ pseudonym, identifiers }: PersonIdentity, entries: readonly ErasureEntry[]): Erasure {
  const shared = identifiers.filter(({ isAlone }) => !isAlone).map(({ value }) => value);
  return { pseudonym, entries, shared };
}

/** There are four billion pseudonyms. Two equal ones in a school are very unlikely, and would do no harm. */
function newPseudonym(): string {
  return `erased-${randomBytes(4).toString('hex')}`;
}

async function purgeAll(files: Files, { domain }: Scope): Promise<void> {
  let purged = await files.purge(domain.id);
  while (purged > 0) purged = await files.purge(domain.id);
}
