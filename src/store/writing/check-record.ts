/**
 * Records on their way into the staging table, from where Postgres compares them with those that are there.
 * All of it is computed without the database, so that a thread can do it.
 */
import type { ErrorDetail } from '../../errors.js';
import { isJsonObject, type JsonObject, type JsonValue, memberOf, printExactJson } from '../../json.js';
import type { Collection, Field } from '../../model/collection.js';
import { toDecimal } from '../../model/compare-json.js';
import { keysOf } from './check-faults.js';
import { takeSentId } from './sent-id.js';
import type { UniqueKey } from './unique-key.js';
import { type StagedChange, toStaged } from './validation.js';

export interface StagingRules {
  readonly collection: Collection;
  /** A record that may be new is taken as a whole one. */
  readonly mode: 'replace';
  readonly timeZone: string;
  /** The instant that is stamped into new records. */
  readonly now: Date;
  /** What tells a record that is there. */
  readonly key: UniqueKey;
  /** Fields of which the members that are sent change those of the record that is there. */
  readonly partial: ReadonlySet<string>;
}

/** A record that was checked, its labels not filled yet. */
export interface CheckedRecord {
  readonly id: string | undefined;
  /** The fields as they were sent. */
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
  // A value that is wrong is null here, so that no rule over it has a key; the others tell a repeat.
  return { id, sent, change, keys: keysOf(collection, change.data, timeZone), faults };
}

/**
 * The texts by which a record is told from the others of a file: that of the key it is found by, and one for
 * every other value that is to be unique.
 */
export function uniqueTextsOf(
  { id, keys, change: { data } }: CheckedRecord,
  { collection }: StagingRules,
): readonly (readonly [name: string, text: string])[] {
  const texts: (readonly [string, string])[] = [];
  if (id !== undefined) texts.push(['_id', id]);
  for (const field of collection.fields) {
    if (!field.isUnique) continue;
    const text = scalarText(memberOf(data, field.name));
    if (text !== undefined) texts.push([field.name, text]);
  }
  for (const rule in keys) texts.push([rule, String(keys[rule])]);
  return texts;
}

function scalarText(value: JsonValue | undefined): string | undefined {
  const scalar = isJsonObject(value) ? value.value : value;
  if (typeof scalar === 'string' || typeof scalar === 'boolean') return String(scalar);
  return toDecimal(scalar)?.toFixed();
}

/** How the key of a record is called in `uniqueTextsOf`. */
export function nameOfKey(key: UniqueKey): string {
  return key.kind === 'id' ? '_id' : key.name;
}

/**
 * How the lines of `printStagedLine` come into the staging table. JSON has no raw control characters, so that
 * nothing of it has to be escaped where cells are parted and quoted by such.
 */
export const COPY_STAGED = String.raw`
  copy import_staged (number, id, is_id_sent, data, withheld, removed, members, keys, missing)
  from stdin (format csv, delimiter e'\t', quote e'\b')`;

export interface StagedIdentity {
  /** Where the row stands in the file. */
  readonly number: number;
  /** The `_id` it has if it is new. */
  readonly id: string;
  /** The top-level fields that a record that is there loses. */
  readonly removed: readonly string[];
  /** What it lacks beside what its fields say, if it is new, e.g. a target of a reference. */
  readonly missing: readonly ErrorDetail[];
}

/** A line for `copy`, once the labels are filled. */
export function printStagedLine(
  record: CheckedRecord,
  rules: StagingRules,
  identity: StagedIdentity,
): string {
  const { sent, change, keys } = record;
  const { collection, partial } = rules;
  const withheld: string[] = [];
  let members = '';
  for (const name in change.data) {
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
  const missingCell = lacking.length === 0 ? NULL : printExactJson(lacking as unknown as JsonValue);
  return (
    `${identity.number}\t${identity.id}\t${isIdSent}\t${printExactJson(change.data)}\t` +
    `${arrayCell(withheld)}\t${arrayCell(removed)}\t${membersCell}\t${keysCell}\t${missingCell}\n`
  );
}

/** In CSV, a cell in which nothing stands. */
const NULL = '';

/** The form of `with_members`: what was sent of the value, leaf by leaf; a list or a reference is one. */
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

/** Names of fields may have the characters that part cells. */
function arrayCell(names: readonly string[]): string {
  if (names.length === 0) return '{}';
  const text = `{${names.map(quotedName).join(',')}}`;
  return PARTS_CELLS.test(text) ? `\b${text.replaceAll('\b', '\b\b')}\b` : text;
}

const PARTS_CELLS = /[\t\n\r\b]/;

function quotedName(name: string): string {
  return `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
