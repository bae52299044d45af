/**
 * What a filter means, said a second time in the plainest way: over records in memory, without SQL, without
 * ranges of instants, without anything of the compiler. The property tests hold Postgres against it.
 */
import { Decimal } from 'decimal.js';
import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json/json.js';
import type { Collection, Field } from '../../../src/base/model/collection.js';
import type { Condition, Filter, RecordFilter } from '../../../src/base/model/filter.js';
import { toNormalPart, toNormalText } from '../../../src/base/model/normal-text.js';
import type { Path } from '../../../src/base/model/path.js';

export interface TestRecord {
  readonly id: string;
  readonly data: JsonObject;
}

export interface Meaning {
  readonly collection: Collection;
  readonly timeZone: string;
  readonly now: Date;
  /** What references point to; needed for conditions on it. */
  readonly target?: Target | undefined;
}

/** The records of the one collection that references point to, as far as the asker may read them. */
export interface Target {
  readonly collection: Collection;
  readonly records: readonly TestRecord[];
}

export function holds(filter: Filter, record: TestRecord, meaning: Meaning): boolean {
  const root: Root = {
    value: record.data,
    id: record.id,
    fields: meaning.collection.fields,
    isElement: false,
  };
  return holdsAt(filter, root, meaning);
}

/** What paths start at: a record, or an element of a list. */
interface Root {
  readonly value: JsonValue;
  readonly id: string | undefined;
  readonly fields: readonly Field[];
  /** Of an element: the type of the list it is in. */
  readonly element?: Kind;
  readonly isElement: boolean;
}

type Kind = 'text' | 'month' | 'number' | 'boolean' | 'datetime' | 'date' | 'reference' | 'object' | 'any';

function holdsAt(filter: Filter, root: Root, meaning: Meaning): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.every((part) => holdsAt(part, root, meaning));
    case 'any':
      return filter.filters.some((part) => holdsAt(part, root, meaning));
    case 'not':
      return !holdsAt(filter.filter, root, meaning);
    case 'record':
      return pointsToOne(filter, root, meaning);
    case 'match':
    case 'expression':
      throw new Error(`a ${filter.kind} is compared with mingo, in test/store/mongo/mongo-meaning.test.ts`);
    default:
      return conditionHolds(filter, root, meaning);
  }
}

function pointsToOne({ path, filter }: RecordFilter, root: Root, meaning: Meaning): boolean {
  const { target } = meaning;
  if (target === undefined) throw new Error('nothing is pointed to here');
  const found = lookUp(root, path);
  const ids = found.isSingle ? direct(found.values, 'value') : opened(stepInto(found.values, 'value'));
  const inner = { ...meaning, collection: target.collection };
  return target.records.some((record) => ids.includes(record.id) && holds(filter, record, inner));
}

function conditionHolds(condition: Condition, root: Root, meaning: Meaning): boolean {
  if (!root.isElement && condition.path.length === 1 && condition.path[0] === '_id') {
    if (condition.kind === 'exists') return true;
    if (condition.kind === 'isNull') return false;
    if (condition.kind === 'element') throw new Error('_id is no list');
    return satisfies(root.id ?? '', condition, { kind: 'text', meaning });
  }
  const found = lookUp(root, condition.path);
  switch (condition.kind) {
    case 'exists':
      return found.values.length > 0;
    case 'isNull':
      return found.values.every((value) => value === null);
    case 'element': {
      const elements = opened(found.values).filter((value) => value !== null);
      return elements.some((value) =>
        holdsAt(
          condition.filter,
          { value, id: undefined, fields: found.fields, element: found.kind, isElement: true },
          meaning,
        ),
      );
    }
    default: {
      const values = found.isSingle ? found.values : opened(found.values);
      if (found.kind !== 'reference')
        return values.some((value) => satisfies(value, condition, { kind: found.kind, meaning }));
      const looksAtLabel = ['startsWith', 'contains', 'equalsInsensitive'].includes(condition.kind);
      const members = looksAtLabel ? ['value', 'label'] : ['value'];
      return members.some((member) => {
        const inner = found.isSingle ? direct(found.values, member) : opened(stepInto(found.values, member));
        return inner.some((value) => satisfies(value, condition, { kind: 'reference', meaning }));
      });
    }
  }
}

interface Found {
  readonly values: readonly JsonValue[];
  readonly kind: Kind;
  readonly fields: readonly Field[];
  /** A declared path without a list: the value itself, not looked into. */
  readonly isSingle: boolean;
}

function lookUp(root: Root, path: Path): Found {
  const declared = declaredAt(root, path);
  const isSingle = declared !== undefined && !declared.passesList && !root.isElement;
  let values: readonly JsonValue[] = [root.value];
  for (const step of path) values = isSingle ? direct(values, step) : stepInto(values, step);
  return { values, kind: declared?.kind ?? 'any', fields: declared?.fields ?? [], isSingle };
}

function direct(values: readonly JsonValue[], step: string): readonly JsonValue[] {
  return values.flatMap((value) => {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return [];
    return [value[step] ?? null];
  });
}

/** One step: lists are looked into, one level. */
function stepInto(values: readonly JsonValue[], step: string): readonly JsonValue[] {
  return direct(opened(values), step);
}

function opened(values: readonly JsonValue[]): readonly JsonValue[] {
  return values.flatMap((value) => (isList(value) ? value : [value]));
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function declaredAt(
  root: Root,
  path: Path,
): { kind: Kind; passesList: boolean; fields: readonly Field[] } | undefined {
  if (path.length === 0) return { kind: root.element ?? 'any', passesList: true, fields: root.fields };
  let fields = root.fields;
  let kind: Kind = root.element ?? 'object';
  let passesList = root.isElement;
  for (const step of path) {
    if (kind === 'reference') {
      if (step !== 'value' && step !== 'label') return undefined;
      kind = 'text';
      fields = [];
      continue;
    }
    const field = fields.find(({ name }) => name === step);
    if (field === undefined) return undefined;
    kind = kindOf(field);
    passesList ||= field.isList;
    fields = field.fields;
  }
  return { kind, passesList, fields };
}

function kindOf({ type, format }: Field): Kind {
  if (type === 'datetime') return format === 'date' ? 'date' : 'datetime';
  return type === 'text' && format === 'month' ? 'month' : type;
}

interface Sense {
  readonly kind: Kind;
  readonly meaning: Meaning;
}

function satisfies(value: JsonValue, condition: Condition, sense: Sense): boolean {
  if (!isText(sense.kind)) return satisfiesAsWritten(value, condition, sense);
  if (satisfiesAsWritten(value, inNormalForm(condition), sense)) return true;
  const isEquality = ['looseEquals', 'equals', 'in', 'on', 'within'].includes(condition.kind);
  const isInsensitive = 'isInsensitive' in condition && condition.isInsensitive === true;
  return isEquality && !isInsensitive && satisfiesAsWritten(value, condition, sense);
}

/** Texts are stored in normal form, and what they are compared with is brought to it. */
function inNormalForm(condition: Condition): Condition {
  const normal = <Value>(value: Value) => (typeof value === 'string' ? toNormalText(value) : value);
  switch (condition.kind) {
    case 'startsWith':
    case 'contains':
      return { ...condition, text: toNormalPart(condition.text) };
    case 'looseEquals':
    case 'equalsInsensitive':
      return { ...condition, text: toNormalText(condition.text) };
    case 'in':
      return { ...condition, values: condition.values.map(normal) };
    case 'equals':
      return { ...condition, value: normal(condition.value) };
    case 'greaterThan':
    case 'greaterOrEqual':
    case 'lessThan':
    case 'lessOrEqual':
      return { ...condition, value: normal(condition.value) };
    default:
      return condition;
  }
}

function satisfiesAsWritten(value: JsonValue, condition: Condition, sense: Sense): boolean {
  switch (condition.kind) {
    case 'looseEquals':
      return looselyEquals(value, condition.text, condition.isInsensitive === true, sense);
    case 'equals':
      return equals(value, condition.value, sense);
    case 'in':
      return condition.values.some((one) => equals(value, one, sense));
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      return typeof value === 'string' && matchesText(value, condition);
    case 'on': {
      if (isText(sense.kind)) {
        const { day } = condition;
        const writing = typeof day === 'string' ? `on${day}` : day.word;
        return typeof value === 'string' && same(value, writing, condition.isInsensitive === true);
      }
      const { day } = condition;
      const wanted = typeof day === 'string' ? day : daysAgo(DAYS_AGO[day.word], sense.meaning);
      return isOnDay(value, wanted, sense);
    }
    case 'within':
      if (sense.kind === 'month') return value === condition.month;
      if (isText(sense.kind)) {
        return (
          typeof value === 'string' && same(value, `#in${condition.month}`, condition.isInsensitive === true)
        );
      }
      return dayOfValue(value, sense)?.startsWith(condition.month) === true;
    case 'greaterThan':
      return compares(value, condition.value, sense, (order) => order > 0);
    case 'greaterOrEqual':
      return compares(value, condition.value, sense, (order) => order >= 0);
    case 'lessThan':
      return compares(value, condition.value, sense, (order) => order < 0);
    case 'lessOrEqual':
      return compares(value, condition.value, sense, (order) => order <= 0);
    default:
      throw new Error(`${condition.kind} does not look at one value`);
  }
}

const DAYS_AGO = { today: 0, yesterday: 1, daybeforeyesterday: 2 } as const;

function isText(kind: Kind): boolean {
  return kind === 'text' || kind === 'month' || kind === 'reference';
}

function looselyEquals(value: JsonValue, text: string, isInsensitive: boolean, sense: Sense): boolean {
  switch (sense.kind) {
    case 'number':
      return isNumber(value) && new Decimal(String(value)).eq(text);
    case 'boolean':
      return typeof value === 'boolean' && String(value) === text;
    case 'datetime':
    case 'date':
      return equals(value, text, sense);
    case 'any': {
      if (typeof value === 'string') return same(value, text, isInsensitive);
      if (typeof value === 'boolean') return String(value) === text;
      return isNumber(value) && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && new Decimal(String(value)).eq(text);
    }
    default:
      return typeof value === 'string' && same(value, text, isInsensitive);
  }
}

function equals(value: JsonValue, wanted: JsonValue, sense: Sense): boolean {
  if (isNumber(wanted)) return isNumber(value) && new Decimal(String(value)).eq(String(wanted));
  if (sense.kind === 'datetime' && typeof wanted === 'string') {
    return isDayText(wanted) ? isOnDay(value, wanted, sense) : value === canonical(wanted);
  }
  return value === wanted;
}

function matchesText(
  value: string,
  condition: { kind: 'startsWith' | 'contains' | 'equalsInsensitive'; text: string; isInsensitive?: boolean },
): boolean {
  if (condition.kind === 'equalsInsensitive') return same(value, condition.text, true);
  const isInsensitive = condition.isInsensitive === true;
  const text = isInsensitive ? value.toLowerCase() : value;
  const wanted = isInsensitive ? condition.text.toLowerCase() : condition.text;
  return condition.kind === 'contains' ? text.includes(wanted) : text.startsWith(wanted);
}

function same(one: string, other: string, isInsensitive: boolean): boolean {
  return isInsensitive ? one.toLowerCase() === other.toLowerCase() : one === other;
}

function compares(
  value: JsonValue,
  wanted: JsonValue,
  sense: Sense,
  accepts: (order: number) => boolean,
): boolean {
  if (isNumber(wanted)) return isNumber(value) && accepts(new Decimal(String(value)).cmp(String(wanted)));
  if (typeof wanted !== 'string' || typeof value !== 'string') return false;
  if (sense.kind === 'datetime' || sense.kind === 'date' || (sense.kind === 'any' && isTime(wanted))) {
    if (isDayText(wanted)) {
      const day = dayOfValue(value, sense);
      return day !== undefined && accepts(byCodePoints(day, wanted));
    }
    return isInstantText(value) && accepts(byCodePoints(value, canonical(wanted)));
  }
  return accepts(byCodePoints(value, wanted));
}

function byCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function isOnDay(value: JsonValue, day: string, sense: Sense): boolean {
  return dayOfValue(value, sense) === day;
}

/**
 * The day a stored value is on: of an instant by the zone's calendar; a day is itself, where days may stand.
 */
function dayOfValue(value: JsonValue, { kind, meaning }: Sense): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (kind !== 'datetime' && isDayText(value)) return value;
  if (kind === 'date' || !isInstantText(value)) return undefined;
  return localDay(new Date(value), meaning.timeZone);
}

function daysAgo(days: number, { timeZone, now }: Meaning): string {
  const day = new Date(`${localDay(now, timeZone)}T00:00:00.000Z`);
  day.setUTCDate(day.getUTCDate() - days);
  return day.toISOString().slice(0, 10);
}

function localDay(instant: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(instant);
}

function canonical(instant: string): string {
  return new Date(instant).toISOString();
}

function isTime(text: string): boolean {
  return isDayText(text) || isInstantText(text);
}

function isDayText(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

function isInstantText(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
}

function isNumber(
  value: JsonValue,
): value is Exclude<JsonValue, string | boolean | null | JsonObject | readonly JsonValue[]> {
  return typeof value === 'number' || isExactNumber(value);
}
