/**
 * Rules over several fields, or over other records, for callers who may not read everything the rule uses.
 * The outcome of the rule would disclose the hidden value, which could be found out write by write. Such a
 * write is therefore refused whatever the outcome, and no message contains a value, or a name, that is hidden
 * from the caller.
 */
import { ServiceError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { RecordVerb, Scope } from '../../base/model/scope.js';
import { findAccess } from '../access/access.js';
import { fieldsTogether } from './check-faults.js';
import { uniqueFieldsOf } from './unique-key.js';

/** Top-level fields whose stored values the caller may not read. */
export interface SecretFields {
  has(field: string): boolean;
}

export const NO_SECRETS: SecretFields = new Set();
export const EVERY_FIELD: SecretFields = { has: () => true };

/**
 * What a message must not disclose about a record: everything, if the caller may read no record of the
 * collection.
 */
export function secretFieldsOf(scope: Scope, collection: Collection): SecretFields {
  return findAccess(scope, collection, 'read')?.hiddenFields ?? EVERY_FIELD;
}

/** The secret fields except these, whose values come from the caller. */
export function without(secret: SecretFields, own: { has(field: string): boolean }): SecretFields {
  return { has: (field) => secret.has(field) && !own.has(field) };
}

/**
 * Refuses values for unique fields that the caller may set but not read: whether a value is taken would
 * disclose that a record has it. A caller who may read no records of the collection may still create some.
 *
 * @throws FORBIDDEN (403)
 */
export function assertNoProbing(records: readonly JsonObject[], scope: Scope, collection: Collection): void {
  const hidden = findAccess(scope, collection, 'read')?.hiddenFields;
  if (hidden === undefined || hidden.size === 0) return;
  const unique = uniqueFieldsOf(collection);
  for (const record of records) {
    const name = Object.keys(record).find((one) => hidden.has(one) && unique.has(one));
    if (name === undefined) continue;
    const whose = describeNeededRoles(collection, 'read', [name]);
    throw new ServiceError(
      'FORBIDDEN',
      `you may not set ${name} of ${collection.name}: it is unique, and not yours to read; ${whose}`,
    );
  }
}

/** A change, as the rules over several fields see it. */
interface JudgedChange {
  readonly verb: 'create' | 'update';
  /** The names of the members that differ. */
  readonly differing: { has(field: string): boolean };
  readonly secret: SecretFields;
}

/**
 * Refuses a change that a rule would judge by stored values the caller may not read.
 *
 * @throws FORBIDDEN (403) naming the fields the caller changes, and the roles that may
 */
export function assertJudgeable(collection: Collection, change: JudgedChange): void {
  const { verb, differing, secret } = change;
  const fields = findUnjudgeable(collection, change);
  if (fields === undefined) return;
  const changed = [...new Set(fields)].filter((field) => differing.has(field) && !secret.has(field));
  const whose = describeNeededRoles(collection, verb, fields);
  throw new ServiceError(
    'FORBIDDEN',
    `you may not set ${changed.join(', ')} of ${collection.name}: a rule holds it against fields ` +
      `that are not yours to read; ${whose}`,
  );
}

/** The fields of a rule that compares what the caller changes with what it may not read. */
function findUnjudgeable(
  collection: Collection,
  { differing, secret }: JudgedChange,
): readonly string[] | undefined {
  return fieldsTogether(collection).find(
    (fields) =>
      fields.some((field) => secret.has(field)) &&
      fields.some((field) => differing.has(field) && !secret.has(field)),
  );
}

/**
 * Refuses a new record that lacks a required field which the caller may not even know.
 *
 * @throws FORBIDDEN (403)
 */
export function assertCompletable(
  records: readonly JsonObject[],
  collection: Collection,
  hidden: ReadonlySet<string>,
): void {
  const needed = collection.fields.filter(
    (field) => field.isRequired && field.default === undefined && hidden.has(field.name),
  );
  const isIncomplete = records.some((record) => needed.some((field) => !Object.hasOwn(record, field.name)));
  if (!isIncomplete) return;
  const fields = needed.map((field) => field.name);
  throw new ServiceError(
    'FORBIDDEN',
    `you may not create records of ${collection.name}: they need values that are not yours to set; ` +
      `${describeNeededRoles(collection, 'create', fields)}`,
  );
}

function describeNeededRoles(collection: Collection, verb: RecordVerb, fields: readonly string[]): string {
  const roles = [...collection.access]
    .filter(([, access]) => access.verbs.has(verb) && !fields.some((field) => access.hiddenFields.has(field)))
    .map(([role]) => role);
  if (!collection.access.has('admin')) roles.unshift('admin');
  return roles.length === 0 ? 'no role may' : `one of these roles is needed: ${roles.join(', ')}`;
}
