/** The rules of a declaration over several values of one record. */
import type { ErrorDetail } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../../base/json/json.js';
import { describeBounds, isWithinBounds } from '../../base/model/bounds.js';
import type { Check, Collection } from '../../base/model/collection.js';
import { Exact, toDecimal } from '../../base/model/compare-json.js';
import { fieldsOfUniqueRule, valuesAt } from '../../base/model/keys-of.js';
import { fieldsOfLinks } from './settle-links.js';

/**
 * The violations of a record against its collection's checks, without the values of `secret` fields.
 * `pointer` is the position of the record in the body. Only checks of a `changed` field apply, so that a rule
 * that is newer than the record does not prevent other changes. Default: all.
 */
export function findCheckFaults(
  collection: Collection,
  data: JsonObject,
  told: {
    readonly pointer: string;
    readonly secret: { has(field: string): boolean };
    readonly changed?: { has(field: string): boolean };
  },
): ErrorDetail[] {
  const { changed } = told;
  return collection.checks.flatMap((check) => {
    if (changed && !fieldsOfCheck(check).some((field) => changed.has(field))) return [];
    const faults = faultsOf(check, data, told.pointer);
    if (faults.length === 0 || !fieldsOfCheck(check).some((field) => told.secret.has(field))) return faults;
    return [{ pointer: told.pointer, detail: `a rule of ${collection.name} does not hold` }];
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
  switch (check.kind) {
    case 'sum':
      return [check.total, ...check.of.flatMap((path) => path.slice(0, 1))];
    case 'order':
      return check.in.length === 0 ? [check.lower, check.upper] : check.in.slice(0, 1);
    case 'when':
      return check.in.length === 0 ? [check.field, check.holds.field] : check.in.slice(0, 1);
  }
}

function faultsOf(check: Check, data: JsonObject, pointer: string): ErrorDetail[] {
  switch (check.kind) {
    case 'sum': {
      const total = toDecimal(data[check.total]);
      if (total === undefined) return [];
      const sum = check.of
        .flatMap((path) => valuesAt(data, path))
        .reduce((soFar, { value }) => soFar.plus(toDecimal(value) ?? 0), new Exact(0));
      if (sum.equals(total)) return [];
      const addends = check.of.map((path) => path.join('.')).join(' and ');
      return [
        {
          pointer: `${pointer}/${check.total}`,
          detail: `${check.total} is ${total.toFixed()}, and the sum of ${addends} is ${sum.toFixed()}`,
          expected: sum.toFixed(),
          sent: total.toFixed(),
        },
      ];
    }
    case 'order':
      return valuesAt(data, check.in).flatMap(({ value, pointer: at }) => {
        if (!isJsonObject(value)) return [];
        const lower = value[check.lower];
        const upper = value[check.upper];
        if (!isAbove(lower, upper)) return [];
        return [
          {
            pointer: `${pointer}${at}/${check.lower}`,
            detail: `${check.lower} ${String(lower)} is above ${check.upper} ${String(upper)}`,
            expected: `at most ${String(upper)}`,
            sent: String(lower),
          },
        ];
      });
    case 'when':
      return valuesAt(data, check.in).flatMap(({ value, pointer: at }) =>
        isJsonObject(value) ? faultsOfWhen(check, value, `${pointer}${at}`) : [],
      );
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
  if (value === null) {
    if (!holds.isRequired) return [];
    return [
      { pointer: at, detail: `${holds.field} is missing; it is required ${when}`, expected: 'a value' },
    ];
  }
  if (holds.bounds === undefined || isWithinBounds(holds.bounds, value, NO_MOMENT)) return [];
  const expected = describeBounds(holds.bounds);
  const sent = isJsonObject(value) || Array.isArray(value) ? 'a value' : String(value);
  return [
    { pointer: at, detail: `${holds.field} is ${sent}; ${expected} is expected ${when}`, expected, sent },
  ];
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
