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
  readonly faults: readonly ErrorDetail[];
}

/** Checks a record by itself: its `_id` and its declared fields. */
export function checkRecord(record: JsonObject, rules: StagingRules): CheckedRecord {
  const { id, data: sent, errors } = takeSentId(record, '');
  const change = toStaged(rules.collection, sent, rules);
  return { id, sent, change, faults: [...errors, ...change.faults] };
}

/**
 * The texts by which a record is told from the others of a file: that of the key it is found by, and one for
 * every other value that is to be unique.
 */
export function uniqueTextsOf(
  { id, change: { data } }: CheckedRecord,
  { collection, timeZone }: StagingRules,
): ReadonlyMap<string, string> {
  const keys = keysOf(collection, data, timeZone);
  const texts = new Map<string, string>();
  if (id !== undefined) texts.set('_id', id);
  for (const field of collection.fields) {
    if (!field.isUnique) continue;
    const text = scalarText(memberOf(data, field.name));
    if (text !== undefined) texts.set(field.name, text);
  }
  for (const [rule, text] of Object.entries(keys ?? {})) texts.set(rule, String(text));
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

/** The columns of the staging table, in the order of the lines that `printStagedLine` gives. */
export const STAGED_COLUMNS = 'number, id, is_id_sent, patch, added, removed, members, keys, missing';

export interface StagedIdentity {
  /** Where the row stands in the file. */
  readonly number: number;
  /** The `_id` it has if it is new. */
  readonly id: string;
  /** What it lacks beside what its fields say, if it is new, e.g. a target of a reference. */
  readonly missing: readonly ErrorDetail[];
}

/** A line for `copy`, once the labels are filled. */
export function printStagedLine(
  record: CheckedRecord,
  rules: StagingRules,
  identity: StagedIdentity,
): string {
  const { sent, change } = record;
  const { collection } = rules;
  const patch: [string, JsonValue][] = [];
  const added: [string, JsonValue][] = [];
  const members: [string, JsonValue][] = [];
  const removed: string[] = [];
  for (const name of Object.keys(change.data)) {
    const value = memberOf(change.data, name) ?? null;
    if (!Object.hasOwn(sent, name)) added.push([name, value]);
    else if (value === null) {
      // An update takes null for "remove"; a new record holds it.
      if (collection.fieldsByName.get(name)?.isRequired !== true) removed.push(name);
      added.push([name, value]);
    } else if (rules.partial.has(name)) {
      members.push([name, membersOf(collection.fieldsByName.get(name), memberOf(sent, name) ?? null, value)]);
      added.push([name, value]);
    } else patch.push([name, value]);
  }
  const keys = keysOf(collection, change.data, rules.timeZone);
  const missing = [...change.missing, ...identity.missing];
  const cells = [
    String(identity.number),
    identity.id,
    record.id === undefined ? 'f' : 't',
    jsonCell(Object.fromEntries(patch)),
    jsonCell(Object.fromEntries(added)),
    removed.length === 0 ? '{}' : escapeCell(printArray(removed)),
    members.length === 0 ? NULL : jsonCell(Object.fromEntries(members)),
    keys === undefined ? NULL : jsonCell(keys),
    missing.length === 0 ? NULL : jsonCell(missing as unknown as JsonValue),
  ];
  return `${cells.join('\t')}\n`;
}

const NULL = '\\N';

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

function jsonCell(value: JsonValue): string {
  return escapeCell(printExactJson(value));
}

/** JSON has no raw control characters; what is left to escape is the backslash. */
function escapeCell(text: string): string {
  return text.includes('\\') ? text.replaceAll('\\', '\\\\') : text;
}

function printArray(texts: readonly string[]): string {
  const quoted = texts.map((text) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return `{${quoted.join(',')}}`.replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\r', '\\r');
}
