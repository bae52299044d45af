/**
 * The triggers of a write: `before` triggers may change or refuse it, `after` triggers start once it is
 * committed. They are given to the store, which does not know that they are scripts.
 */

import { type JsonObject, memberOf, membersWhere, printExactJson } from '../../base/json/json.js';
import { isSameJson } from '../../base/model/compare-json.js';
import { type Principal, type Scope, withCall } from '../../base/model/scope.js';
import { accessOf, findAccess, type RecordsOfScope } from '../access/access.js';
import type { Permit } from '../database/fair-queue.js';
import type { Transaction } from '../database/queryable.js';
import type { Sql } from '../sql.js';
import { assertWritable } from './record-refusals.js';

export type WriteOperation = 'create' | 'update' | 'delete';

/** The collections a transaction writes to, as far as is known before it. */
export type Writes = 'anything' | readonly string[];

export interface ReservedPermit {
  readonly permit: Permit;
  /** How long the write waited for it, which counts into the time that its scripts may take. */
  readonly waitedMs: number;
}

export interface WriteTriggers {
  /**
   * The triggers before such a write, in order. Every write calls this, so it costs nothing if there are
   * none.
   */
  before(domainId: string, collection: string, operation: WriteOperation): readonly BeforeTrigger[];
  /**
   * Acquires a permit for the scripts, before such writes take a connection: a write that waited with a
   * connection in hand would keep it from everybody. `undefined`: no script will run.
   *
   * @throws UNAVAILABLE when too many wait, or for too long
   */
  reserve(scope: Scope, writes: Writes): Promise<ReservedPermit> | undefined;
  /**
   * A JSON expression over `r`, a written record, for what follows once the write is committed.
   * `undefined`: nothing does.
   */
  after(scope: Scope, collection: string, operation: WriteOperation): Sql | undefined;
  /** An expression that starts the jobs in the JSON of `after`, once the transaction is committed. */
  begin(following: Sql): Sql;
  /** The names of what the writes of a collection start, whatever they do. */
  names(domainId: string, collection: string): TriggerNames;
}

export interface TriggerNames {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface BeforeTrigger {
  /** The principal as which the trigger looks at the record and changes it. */
  principalFor(scope: Scope): Principal;
  /** The record as it is to be instead; `undefined`: as it was given. @throws to refuse the write */
  ask(write: AskedWrite, within: Transaction): Promise<JsonObject | undefined>;
}

/** A write as a trigger sees it: without the fields that are hidden from it. */
export interface AskedWrite {
  /** The scope has the trigger's principal. */
  readonly scope: Scope;
  readonly collection: string;
  readonly operation: WriteOperation;
  /** The record as it will be; of a removal, as it is. */
  readonly record: JsonObject;
  /** The record as it is now; `undefined` for a new one. */
  readonly previous: JsonObject | undefined;
}

export const NO_TRIGGERS: WriteTriggers = {
  before: () => [],
  reserve: () => undefined,
  after: () => undefined,
  begin: (following) => following,
  names: () => ({ before: [], after: [] }),
};

/** Which triggers a write starts. */
export type TriggerChoice = readonly ('before' | 'after')[];

/** Only the chosen triggers. */
export function chosenTriggers(triggers: WriteTriggers, choice: TriggerChoice): WriteTriggers {
  return {
    ...(choice.includes('before') ? triggers : NO_TRIGGERS),
    after: choice.includes('after') ? triggers.after : NO_TRIGGERS.after,
    begin: triggers.begin,
    names: (domainId, collection) => {
      const { before, after } = triggers.names(domainId, collection);
      return {
        before: choice.includes('before') ? before : [],
        after: choice.includes('after') ? after : [],
      };
    },
  };
}

interface PendingWrite extends RecordsOfScope {
  readonly operation: WriteOperation;
  readonly id: string;
  /** The record without `_id`. */
  readonly record: JsonObject;
  /** Absent for a new one. */
  readonly previous?: JsonObject | undefined;
}

/**
 * Asks the triggers of a write one after the other and returns what they make of the record together. What
 * one changes is held against the rights of its own principal: a script with service roles may set what its
 * caller may not.
 *
 * @throws what a trigger refuses with; FORBIDDEN for a change that its principal may not make
 */
export async function askBefore(
  triggers: Pick<WriteTriggers, 'before'>,
  write: PendingWrite,
  within: Transaction,
): Promise<JsonObject> {
  const { scope, collection, operation } = write;
  let record = write.record;
  for (const trigger of triggers.before(scope.domain.id, collection.name, operation))
    record = revise(record, await askOne(trigger, { ...write, record }, within));
  // A value that the triggers left alone keeps the digits that the caller sent.
  return revise(write.record, difference(write.record, record));
}

/** A record after a revision. */
function revise(record: JsonObject, { set, removed }: ReturnType<typeof difference>): JsonObject {
  return { ...omit(record, removed), ...set };
}

async function askOne(trigger: BeforeTrigger, write: PendingWrite, within: Transaction) {
  const { collection, operation, id } = write;
  const scope = { ...write.scope, principal: trigger.principalFor(write.scope) };
  const hidden = [...(findAccess(scope, collection, 'read')?.hiddenFields ?? [])];
  // A number with more digits than a float has is no change when it comes back rounded.
  const shown = (record: JsonObject): JsonObject => ({
    _id: id,
    ...JSON.parse(printExactJson(omit(record, hidden))),
  });
  const given = shown(write.record);
  const shownWrite = {
    scope,
    collection: collection.name,
    operation,
    record: given,
    previous: write.previous && shown(write.previous),
  };
  const answer = await trigger.ask(shownWrite, within);
  if (answer === undefined || operation === 'delete') return { set: {}, removed: [] };
  const revision = difference(given, { ...answer, _id: id });
  const names = [...Object.keys(revision.set), ...revision.removed];
  if (names.length > 0) {
    const byScript = withCall(scope, { scriptDepth: (scope.call.scriptDepth ?? 0) + 1 });
    const access = accessOf(byScript, collection, operation);
    assertWritable([Object.fromEntries(names.map((name) => [name, null]))], access, collection);
  }
  return revision;
}

/** Top-level members to set and to take away. */
function difference(before: JsonObject, after: JsonObject) {
  const set = Object.entries(after).filter(([name, value]) => !isSameJson(memberOf(before, name), value));
  return {
    set: Object.fromEntries(set),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}

function omit(record: JsonObject, names: readonly string[]): JsonObject {
  return membersWhere(record, (name) => !names.includes(name));
}
