/**
 * Texts of a record that must stand in another one: the name of a class, a section of that class, a fee head
 * (`names`), or a text that the record at a reference has too (`agreesWith`).
 *
 * The values of all records of a write are looked up by one statement. Only if some are not found, the names
 * are read, to find the school's spelling or the nearest name. What a record had before may stay.
 *
 * @see Link
 */
import type { ErrorDetail } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../../base/json/json.js';
import { dayOf } from '../../base/model/calendar.js';
import type { Collection, Link } from '../../base/model/collection.js';
import { valuesAt } from '../../base/model/keys-of.js';
import { foldText } from '../../base/model/normal-text.js';
import { pointerStep } from '../../base/model/path.js';
import type { Scope } from '../../base/model/scope.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { findAccess } from '../access/access.js';
import { linkTargetOf } from '../catalog/guarding-fields.js';
import type { Queryable } from '../database/queryable.js';
import { liveRecordsIn } from '../sql/records-of.js';
import { statementName } from '../sql/statement-name.js';
import { sql } from '../sql.js';
import { type LinkContext, type Sought, selectUnlinked } from './select-unlinked.js';

/** The values of a link in one object of a record. */
interface LinkedValues extends Sought {
  /** The JSON pointer of the object within the record. */
  readonly pointer: string;
  readonly holder: JsonObject;
  /** The position of the text in a list; `undefined`: the first member is no list. */
  readonly at: number | undefined;
}

/** The outcome for values that were not found in the same spelling. */
interface LinkVerdict {
  /** The school's spelling of each text, if all of them are names but for case and blanks. */
  readonly spelled?: readonly (string | null)[];
  /** The place of the faulty member. */
  readonly member?: number;
  readonly problem?: string;
  readonly expected?: string;
}

/** By `keyOfSought`. */
export type LinkVerdicts = ReadonlyMap<string, LinkVerdict>;

/**
 * The faults in the links of each record. Texts that differ from a name only by case and blanks are put in
 * the school's spelling: in `changes`, the top-level members that are written. Values that the record had
 * `before` are not judged. `judge` looks up all distinct values at once, and is not called if there are none.
 */
export async function settleLinks(
  collection: Collection,
  records: readonly LinkedRecord[],
  {
    timeZone,
    judge,
  }: {
    readonly timeZone: string;
    readonly judge: (sought: readonly Sought[]) => Promise<LinkVerdicts>;
  },
): Promise<readonly (readonly ErrorDetail[])[]> {
  const all = collection.links.length === 0 ? [] : records.map(({ data }) => data);
  const sought = listSought(collection, all, timeZone);
  const verdicts: LinkVerdicts = sought.length === 0 ? new Map() : await judge(sought);
  return records.map((record) => {
    const faults = settleRecord(collection, record, { verdicts, timeZone });
    return [...faults, ...findOpen(collection, record)];
  });
}

/** The texts that could not be filled in from the record at their reference. */
function findOpen({ fields }: Collection, { data, before }: LinkedRecord): readonly ErrorDetail[] {
  return fields.flatMap(({ name, filledFrom }): ErrorDetail[] => {
    if (filledFrom === undefined || data[name] !== '' || before?.[name] === '') return [];
    const pointer = `/${pointerStep(name)}`;
    const expected = 'text';
    return [{ pointer, detail: `${pointer}: ${expected} is expected, it is missing`, expected }];
  });
}

/** The distinct values of links in records. */
export function listSought(
  collection: Collection,
  records: readonly JsonObject[],
  timeZone: string,
): readonly Sought[] {
  const found = new Map<string, Sought>();
  for (const data of records) {
    for (const values of valuesOfLinks(collection, data, timeZone)) {
      const key = keyOfSought(values);
      if (found.has(key)) continue;
      const { link, id, on, texts } = values;
      found.set(key, { link, id, on, texts });
    }
  }
  return [...found.values()];
}

export function keyOfSought({ link, id, on, texts }: Sought): string {
  return JSON.stringify([link, id, on, ...texts]);
}

/** The top-level fields that each link of the record itself compares. */
export function fieldsOfLinks({ links }: Collection): readonly (readonly string[])[] {
  return links.map(({ in: [outer], members, reference, on }) =>
    outer === undefined
      ? [...members.map(({ field }) => field), ...[reference, on].flatMap((name) => name ?? [])]
      : [outer],
  );
}

/** The faults of a record by the verdicts, after its texts were put in the school's spelling. */
function settleRecord(
  collection: Collection,
  { data, changes = data, before }: LinkedRecord,
  found: { readonly verdicts: LinkVerdicts; readonly timeZone: string },
): readonly ErrorDetail[] {
  if (found.verdicts.size === 0) return [];
  const { timeZone } = found;
  const held = new Set(before && listSought(collection, [before], timeZone).map(keyOfSought));
  return valuesOfLinks(collection, data, timeZone).flatMap((values): ErrorDetail[] => {
    const key = keyOfSought(values);
    const verdict = found.verdicts.get(key);
    if (verdict === undefined || held.has(key)) return [];
    const { members, in: path } = collection.links[values.link] ?? NO_LINK;
    const { spelled, member: place = 0, problem = '', expected = '' } = verdict;
    if (spelled !== undefined) {
      const texts = members.flatMap(({ field }, index): [string, JsonValue][] => {
        const text = spelled[index];
        if (text == null || text === values.texts[index]) return [];
        return [[field, values.at === undefined ? text : replacedIn(values.holder[field], values.at, text)]];
      });
      for (const [field, text] of texts) {
        Object.assign(values.holder, { [field]: text });
        if (path.length === 0 && Object.hasOwn(changes, field)) Object.assign(changes, { [field]: text });
      }
      return [];
    }
    const { field } = members[place] ?? { field: '' };
    const inList = values.at === undefined ? '' : `/${values.at}`;
    const pointer = `${values.pointer}/${pointerStep(field)}${inList}`;
    const sent = values.texts[place] ?? '';
    return [{ pointer, detail: `${pointer}: ${problem}`, expected, sent }];
  });
}

/** A record whose links are judged. */
export interface LinkedRecord {
  /** The whole record, as it is going to be. */
  readonly data: JsonObject;
  /** The top-level members that are written. Default: all of them. */
  readonly changes?: JsonObject;
  /** The record as it was. */
  readonly before?: JsonObject | undefined;
}

const NO_LINK: Link = { in: [], target: '', members: [], reference: undefined, on: undefined };

function replacedIn(list: JsonValue | undefined, at: number, text: string): JsonValue {
  return Array.isArray(list) ? list.map((one: JsonValue, index) => (index === at ? text : one)) : text;
}

/** With loops, because every record of a large write goes through it. */
function valuesOfLinks(
  { links, fieldsByName }: Collection,
  data: JsonObject,
  timeZone: string,
): readonly LinkedValues[] {
  const found: LinkedValues[] = [];
  for (const [link, { in: path, members, reference, on }] of links.entries()) {
    const isList = path.length === 0 && fieldsByName.get(members[0]?.field ?? '')?.isList === true;
    for (const { value: holder, pointer } of valuesAt(data, path)) {
      if (!isJsonObject(holder)) continue;
      const first = memberOf(holder, members[0]?.field ?? '');
      if (reference === undefined && isList && Array.isArray(first)) {
        for (const [at, one] of first.entries()) {
          const text = textOf(one);
          if (text !== null) found.push({ link, pointer, holder, at, id: null, on: null, texts: [text] });
        }
        continue;
      }
      const texts = members.map(({ field }) => textOf(memberOf(holder, field), reference));
      if (reference === undefined) {
        if (texts[0] != null) found.push({ link, pointer, holder, at: undefined, id: null, on: null, texts });
        continue;
      }
      const target = memberOf(holder, reference);
      const id = isJsonObject(target) ? textOf(target.value) : null;
      const moment = on === undefined ? null : momentOf(memberOf(holder, on), timeZone);
      const isWhole = id !== null && (on === undefined || moment !== null);
      if (isWhole && texts.some((text) => text !== null))
        found.push({ link, pointer, holder, at: undefined, id, on: moment, texts });
    }
  }
  return found;
}

/** An empty text is none; beside a reference, it is to be filled in. */
function textOf(value: JsonValue | undefined, reference?: string): string | null {
  return typeof value === 'string' && (value !== '' || reference !== undefined) ? value : null;
}

/** A day or session as it is; an instant by its day. */
function momentOf(value: JsonValue | undefined, timeZone: string): string | null {
  const text = textOf(value);
  return text === null || text.length <= 10 ? text : dayOf(text, timeZone);
}

/** The verdicts on the values that no other record has, by `keyOfSought`. */
export async function judgeLinks(
  queryable: Queryable,
  collection: Collection,
  sought: readonly Sought[],
  context: LinkContext,
): Promise<LinkVerdicts> {
  const sql = selectUnlinked(collection, sought, context);
  if (sql === undefined) return new Map();
  const rows = await queryable.query<{ link: number; place: number; found: (string | null)[] | null }>(sql, {
    name: statementName(sql.text),
  });
  const verdicts = new Map<string, LinkVerdict>();
  const namesByLink = new Map<number, TargetNames>();
  for (const { link: index, place, found } of rows) {
    const one = sought.filter(({ link }) => link === index)[place - 1];
    const link = collection.links[index];
    const target = link && linkTargetOf(link, context.findCollection);
    if (one === undefined || link === undefined || target === undefined) continue;
    if (found !== null) {
      verdicts.set(keyOfSought(one), disagreement(link, one, { found, target, scope: context.scope }));
      continue;
    }
    const names = namesByLink.get(index) ?? (await listNamesOf(queryable, link, target, context));
    namesByLink.set(index, names);
    verdicts.set(keyOfSought(one), verdictOnName(link, one.texts, names));
  }
  return verdicts;
}

function disagreement(
  { reference = '', members, on }: Link,
  { id, on: moment, texts }: Sought,
  { found, target, scope }: { found: readonly (string | null)[]; target: Collection; scope: Scope },
): LinkVerdict {
  const member = texts.findIndex((text, index) => text !== null && text !== '' && found[index] !== text);
  if (member === -1) {
    const isShown = (index: number) => isReadable(scope, target, members[index]?.path);
    return {
      spelled: texts.map((text, index) => (text === '' && isShown(index) ? (found[index] ?? null) : null)),
    };
  }
  const [text, is] = [texts[member], found[member]].map((one) => JSON.stringify(one));
  const field = members[member]?.path.join('.') ?? '';
  const at = on === undefined ? '' : ` (${moment})`;
  const { name } = target;
  const problem = `${text} is not the ${field} of the record "${id}" of ${name}, its ${reference}${at}`;
  // The value may be one that the caller cannot read.
  if (!isReadable(scope, target, members[member]?.path))
    return { member, problem, expected: `that ${field}` };
  return { member, problem: `${problem}: that is ${is}`, expected: found[member] ?? '' };
}

/** Whether the caller may read a field of every record. */
function isReadable(scope: Scope, target: Collection, [field = '']: readonly string[] = []): boolean {
  const access = findAccess(scope, target, 'read');
  return access !== undefined && access.rows === undefined && !access.hiddenFields.has(field);
}

/** The names of a collection: for each record, the texts of each member of the link. */
interface TargetNames {
  readonly noun: string;
  readonly records: readonly (readonly (readonly string[])[])[];
  readonly isComplete: boolean;
  /** Whether the caller may read them. */
  readonly areShown: boolean;
}

const MOST_NAMES = 1_000;
const MOST_SHOWN = 30;

async function listNamesOf(
  queryable: Queryable,
  { members }: Link,
  target: Collection,
  { scope }: LinkContext,
): Promise<TargetNames> {
  const lists = members.map(({ path }) => {
    const steps = path.map((name) => `."${name}"`).join('');
    return sql`jsonb_path_query_array(r.data, ${`lax $${steps}`}::jsonpath)`;
  });
  const rows = await queryable.query<{ names: unknown[][] }>(sql`
    select jsonb_build_array(${sql.join(lists)}) as names
    from records r
    where ${liveRecordsIn(scope.domain.id, target.name)}
    limit ${MOST_NAMES + 1}`);
  const records = rows.map(({ names }) =>
    names.map((list) => list.filter((name): name is string => typeof name === 'string')),
  );
  return {
    noun: target.name.replaceAll('_', ' '),
    records,
    isComplete: records.length <= MOST_NAMES,
    areShown: members.every(({ path }) => isReadable(scope, target, path)),
  };
}

function verdictOnName(
  { members }: Link,
  texts: readonly (string | null)[],
  { noun, records, isComplete, areShown }: TargetNames,
): LinkVerdict {
  let left = isComplete ? records : [];
  const spelled: (string | null)[] = [];
  for (const [member, text] of texts.entries()) {
    if (text === null) {
      spelled.push(null);
      continue;
    }
    const known = [...new Set(left.flatMap((names) => names[member] ?? []))];
    const spelling = known.includes(text) ? text : sameName(text, known);
    if (spelling === undefined) {
      const shown = known.slice(0, MOST_SHOWN).join(', ') + (known.length > MOST_SHOWN ? ' …' : '');
      const hint = areShown ? didYouMean(text, known) : '';
      const [list = ''] = members[member]?.path ?? [];
      const owner = spelled[0] == null ? `any ${noun}` : `${noun} ${JSON.stringify(spelled[0])}`;
      const problem =
        member === 0
          ? `${JSON.stringify(text)} is not a ${noun}.${hint}`
          : `${JSON.stringify(text)} is not among the ${list} of ${owner}.${hint}`;
      const expected = member === 0 ? `the name of a ${noun}` : `one of the ${list} of ${owner}`;
      return { member, problem, expected: areShown && known.length > 0 ? `one of ${shown}` : expected };
    }
    spelled.push(spelling);
    left = left.filter((names) => names[member]?.includes(spelling));
  }
  return { spelled };
}

/** The one name that is the text but for case and blanks. */
function sameName(text: string, known: readonly string[]): string | undefined {
  const folded = foldText(text);
  const same = known.filter((name) => foldText(name) === folded);
  return same.length === 1 ? same[0] : undefined;
}
