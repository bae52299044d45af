/**
 * Prepares records for the staging table, in which Postgres compares them with existing ones. Uses no
 * database, so that a worker thread can do it.
 */

import type { ErrorDetail } from '../../base/errors.js';
import {
  asJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  printExactJson,
} from '../../base/json/json.js';
import type { Collection, Field } from '../../base/model/collection.js';
import { toDecimal } from '../../base/model/compare-json.js';
import { keysOf } from '../../base/model/keys-of.js';
import type { Clock } from '../../base/model/value-test.js';
import { takeSentId } from './record-refusals.js';
import { keptByKey, type UniqueKey } from './unique-key.js';
import { type StagedChange, toStaged } from './validation.js';

/** New records are created at its `now`. */
export interface StagingRules extends Clock {
  readonly collection: Collection;
  /** A record that may be new is sent as a whole. */
  readonly mode: 'replace';
  /** The key by which existing records are found. */
  readonly key: UniqueKey;
  /** Fields whose sent members are merged into those of an existing record. */
  readonly partial: ReadonlySet<string>;
}

/** A checked record whose labels are not filled yet. */
export interface CheckedRecord {
  readonly id: string | undefined;
  /** The fields as sent. */
  readonly sent: JsonObject;
  readonly change: StagedChange;
  /** @see keysOf */
  readonly keys: JsonObject | undefined;
  readonly faults: readonly ErrorDetail[];
}

/** Checks a record by itself: its `_id` and its declared fields. */
export function checkRecord(record: JsonObject, rules: StagingRules): CheckedRecord {
  const { collection, timeZone } = rules;
  const { id, data: sent, errors } = takeSentId(record, '');
  const change = toStaged(collection, sent, rules);
  const faults = errors.length === 0 ? change.faults : [...errors, ...change.faults];
  // An invalid value is null here, so no rule over it yields a key; the other rules still detect duplicates.
  return { id, sent, change, keys: keysOf(collection, change.data, timeZone), faults };
}

/**
 * The texts that must be unique in a file: the key by which the record is found, and every other unique
 * value.
 */
export function uniqueTextsOf(
  { id, keys, change: { data } }: CheckedRecord,
  { collection }: StagingRules,
): readonly (readonly [name: string, text: string])[] {
  const texts: (readonly [string, string])[] = [];
  if (id !== undefined) texts.push(['_id', id]);
  for (const field of collection.fields) {
    // The key of a field that ignores case covers its exact value.
    if (!field.isUnique || (keys !== undefined && Object.hasOwn(keys, field.name))) continue;
    const text = scalarText(memberOf(data, field.name));
    if (text !== undefined) texts.push([field.name, text]);
  }
  for (const rule in keys) texts.push([rule, String(keys[rule])]);
  return texts;
}

/** A scalar, or the value of a reference, as text. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  const scalar = isJsonObject(value) ? value.value : value;
  if (typeof scalar === 'string' || typeof scalar === 'boolean') return String(scalar);
  return toDecimal(scalar)?.toFixed();
}

/** The name of the record's key in `uniqueTextsOf`. */
export function nameOfKey(key: UniqueKey): string {
  return key.kind === 'id' ? '_id' : key.name;
}

/**
 * Copies the lines of `printStagedLine` into the staging table. JSON contains no raw control characters, so
 * using these as delimiter and quote makes escaping unnecessary.
 */
export const COPY_STAGED = String.raw`
  copy import_staged (number, id, is_id_sent, data, withheld, removed, members, keys, missing)
  from stdin (format csv, delimiter e'\t', quote e'\b')`;

/** The cells of the lines of `printStagedLine`, for a server that takes no `copy`. */
export function listStagedCells(lines: Uint8Array): readonly (readonly (string | null)[])[] {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).toString();
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (const { groups } of text.matchAll(CELL)) {
    const { quoted, plain = '', end } = groups ?? {};
    row.push(quoted === undefined ? plain || null : quoted.replaceAll('\b\b', '\b'));
    if (end === '\t') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const CELL = /(?:[\b](?<quoted>(?:[^\b]|[\b][\b])*)[\b]|(?<plain>[^\t\n]*))(?<end>[\t\n])/gy;

interface StagedIdentity {
  /** The number of the row in the file. */
  readonly number: number;
  /** The `_id`, if the record is new. */
  readonly id: string;
  /** The top-level fields that an existing record loses. */
  readonly removed: readonly string[];
  /** The faults of a new record beside those of its fields, e.g. a reference without a target. */
  readonly missing: readonly ErrorDetail[];
}

/** A line for `copy`, after the labels are filled. */
export function printStagedLine(
  record: CheckedRecord,
  rules: StagingRules,
  identity: StagedIdentity,
): string {
  const { sent, change, keys } = record;
  const { collection, partial, key } = rules;
  const withheld = keptByKey(key, collection).filter((name) => Object.hasOwn(change.data, name));
  let members = '';
  for (const name in change.data) {
    if (withheld.includes(name)) continue;
    if (!Object.hasOwn(sent, name)) withheld.push(name);
    else if (partial.has(name)) {
      const value = change.data[name] ?? null;
      if (value === null) continue;
      const deep = membersOf(collection.fieldsByName.get(name), memberOf(sent, name) ?? null, value);
      members += `,${JSON.stringify(name)}:${printExactJson(deep)}`;
      withheld.push(name);
    }
  }
  const { missing, removed } = identity;
  const lacking = missing.length === 0 ? change.missing : [...change.missing, ...missing];
  const isIdSent = record.id === undefined ? 'f' : 't';
  const membersCell = members === '' ? NULL : `{${members.slice(1)}}`;
  const keysCell = keys === undefined ? NULL : printExactJson(keys);
  const missingCell = lacking.length === 0 ? NULL : printExactJson(asJson(lacking));
  return (
    `${identity.number}\t${identity.id}\t${isIdSent}\t${printExactJson(change.data)}\t` +
    `${arrayCell(withheld)}\t${arrayCell(removed)}\t${membersCell}\t${keysCell}\t${missingCell}\n`
  );
}

/** An empty cell, in CSV. */
const NULL = '';

/** The argument of `with_members`: the sent value, leaf by leaf; a list or a reference counts as one leaf. */
function membersOf(field: Field | undefined, sent: JsonValue, stored: JsonValue): JsonValue {
  if (field?.type !== 'object' || field.isList || !isJsonObject(sent) || !isJsonObject(stored))
    return [stored];
  const entries = Object.keys(sent).map((name): [string, JsonValue] => [
    name,
    membersOf(
      field.fields.find((member) => member.name === name),
      memberOf(sent, name) ?? null,
      memberOf(stored, name) ?? null,
    ),
  ]);
  return Object.fromEntries(entries);
}

/** Field names may contain the delimiter characters. */
function arrayCell(names: readonly string[]): string {
  if (names.length === 0) return '{}';
  const text = `{${names.map(quotedName).join(',')}}`;
  return PARTS_CELLS.test(text) ? `\b${text.replaceAll('\b', '\b\b')}\b` : text;
}

const PARTS_CELLS = /[\t\n\r\b]/;

function quotedName(name: string): string {
  return `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
