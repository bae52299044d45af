/** The rules of a declaration over several values of one record. */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../../base/json/json.js';
import { describeBounds, isWithinBounds } from '../../base/model/bounds.js';
import { yearOfSession } from '../../base/model/calendar.js';
import type { Check, Collection } from '../../base/model/collection.js';
import { Exact, toDecimal } from '../../base/model/compare-json.js';
import { fieldsOfUniqueRule, valuesAt } from '../../base/model/keys-of.js';
import { foldText } from '../../base/model/normal-text.js';
import type { Scope } from '../../base/model/scope.js';
import { describeNeededRoles, findAccess } from '../access/access.js';
import { fieldsOfLinks } from './settle-links.js';
import { uniqueFieldsOf } from './unique-key.js';

interface Context {
  readonly pointer: string;
  readonly secret: { has(field: string): boolean };
  readonly changed?: { has(field: string): boolean };
  readonly sessionFirstMonth?: number | undefined;
}

/**
 * The violations of a record against its collection's checks, without the values of `secret` fields.
 * `pointer` is the position of the record in the body. Only checks of a `changed` field apply, so that a rule
 * that is newer than the record does not prevent other changes. Default: all.
 */
export function findCheckFaults(collection: Collection, data: JsonObject, context: Context): ErrorDetail[] {
  const { changed, secret, pointer } = context;
  return collection.checks.flatMap((check) => {
    if (changed && !fieldsOfCheck(check).some((field) => changed.has(field))) return [];
    const faults = faultsOf(check, data, context);
    if (faults.length === 0 || !fieldsOfCheck(check).some((field) => secret.has(field))) return faults;
    return [{ pointer, detail: `a rule of ${collection.name} does not hold` }];
  });
}

/** The top-level fields that each check, link, `uniqueTogether` rule and the stays of a person use. */
export function fieldsTogether(collection: Collection): readonly (readonly string[])[] {
  const { stays } = collection;
  return [
    ...(stays === undefined ? [] : [[stays.from, stays.to, stays.list]]),
    ...collection.checks.map(fieldsOfCheck),
    ...fieldsOfLinks(collection),
    ...collection.uniqueTogether.map(fieldsOfUniqueRule),
  ];
}

function fieldsOfCheck(check: Check): readonly string[] {
  if ('of' in check)
    return [check.kind === 'sum' ? check.total : check.session, ...check.of.flatMap(([first = '']) => first)];
  if (check.in.length > 0) return check.in.slice(0, 1);
  if (check.kind === 'order') return [check.lower, check.upper];
  return check.kind === 'when' ? [check.field, check.holds.field] : [];
}

function faultsOf(check: Check, data: JsonObject, { pointer, sessionFirstMonth }: Context): ErrorDetail[] {
  switch (check.kind) {
    case 'sum': {
      const total = toDecimal(data[check.total]);
      if (total === undefined) return [];
      const sum = check.of
        .flatMap((path) => valuesAt(data, path))
        .reduce((soFar, { value }) => soFar.plus(toDecimal(value) ?? 0), new Exact(0));
      if (sum.equals(total)) return [];
      const addends = check.of.map((path) => path.join('.')).join(' and ');
      const [expected, sent] = [sum.toFixed(), total.toFixed()];
      const detail = `${check.total} is ${sent}, and the sum of ${addends} is ${expected}`;
      return [{ pointer: `${pointer}/${check.total}`, detail, expected, sent }];
    }
    case 'inSession': {
      const session = String(data[check.session]);
      const months = check.of.flatMap((path) => valuesAt(data, path));
      return months.flatMap(({ value, pointer: at }) => {
        if (typeof value !== 'string') return [];
        if (yearOfSession(value, sessionFirstMonth) === Number(session.slice(0, 4))) return [];
        const expected = `a month of the session ${session}`;
        const detail = `${pointer}${at}: ${expected} is expected, ${JSON.stringify(value)} was sent`;
        return [{ pointer: `${pointer}${at}`, detail, expected, sent: value }];
      });
    }
    case 'order':
      return valuesAt(data, check.in).flatMap(({ value, pointer: at }) => {
        if (!isJsonObject(value)) return [];
        const { [check.lower]: lower, [check.upper]: upper } = value;
        if (!isAbove(lower, upper)) return [];
        const [expected, sent] = [`at most ${String(upper)}`, String(lower)];
        const detail = `${check.lower} ${sent} is above ${check.upper} ${String(upper)}`;
        return [{ pointer: `${pointer}${at}/${check.lower}`, detail, expected, sent }];
      });
    case 'when':
      return valuesAt(data, check.in).flatMap(({ value, pointer: at }) =>
        isJsonObject(value) ? faultsOfWhen(check, value, `${pointer}${at}`) : [],
      );
    case 'distinct': {
      const known = new Set<string>();
      return valuesAt(data, [...check.in, check.field]).flatMap(({ value, pointer: at }) => {
        if (typeof value !== 'string' || value === '') return [];
        // Elements of one list have pointers with the same beginning, up to the number of the element.
        const key = `${at.split('/').slice(0, -2).join('/')} ${foldText(value)}`;
        const before = known.size;
        if (known.add(key).size > before) return [];
        const sent = JSON.stringify(value);
        const detail = `${pointer}${at}: ${sent} is there twice, but for case and blanks`;
        return [{ pointer: `${pointer}${at}`, detail, expected: `another ${check.field}`, sent: value }];
      });
    }
  }
}

function faultsOfWhen(
  { field, is, holds }: Extract<Check, { readonly kind: 'when' }>,
  data: JsonObject,
  pointer: string,
): ErrorDetail[] {
  const state = memberOf(data, field);
  if ((typeof state !== 'string' && typeof state !== 'boolean') || !is.includes(state)) return [];
  const value = memberOf(data, holds.field) ?? null;
  const when = `where ${field} is ${state}`;
  const at = `${pointer}/${holds.field}`;
  if (value === null || value === '') {
    const detail = `${holds.field} is missing; it is required ${when}`;
    return holds.isRequired ? [{ pointer: at, detail, expected: 'a value' }] : [];
  }
  const { bounds = {}, isAbsent } = holds;
  if (!isAbsent && isWithinBounds(bounds, value, NO_MOMENT)) return [];
  const expected = isAbsent ? 'no value' : describeBounds(bounds);
  const sent = isJsonObject(value) || Array.isArray(value) ? 'a value' : String(value);
  const detail = `${holds.field} is ${sent}; ${expected} is expected ${when}`;
  return [{ pointer: at, detail, expected, sent }];
}

/** The bounds of a check never depend on the time. */
const NO_MOMENT = { now: new Date(0), timeZone: 'UTC' };

/** Stored instants, days and months compare as texts; numbers by their exact value. */
function isAbove(lower: JsonValue | undefined, upper: JsonValue | undefined): boolean {
  if (typeof lower === 'string' && typeof upper === 'string') return lower > upper;
  const low = toDecimal(lower);
  const high = toDecimal(upper);
  return low !== undefined && high !== undefined && low.greaterThan(high);
}

/** Top-level fields whose stored values the caller may not read. */
export interface SecretFields {
  has(field: string): boolean;
}

export const NO_SECRETS: SecretFields = new Set();
export const EVERY_FIELD: SecretFields = { has: () => true };

/**
 * The fields that a message must not disclose: all, if the caller may read no record of the collection.
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
      `you may not set ${name} of ${collection.name}: it is unique, and you may not read it; ${whose}`,
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
    `you may not set ${changed.join(', ')} of ${collection.name}: a rule compares it with fields ` +
      `that you may not read; ${whose}`,
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
    `you may not create records of ${collection.name}: they need values that you may not set; ` +
      `${describeNeededRoles(collection, 'create', fields)}`,
  );
}
