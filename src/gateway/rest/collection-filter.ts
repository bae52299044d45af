/**
 * Reads the documented parameters of a collection: what they ask for together, and whether what they name
 * exists. The same questions are answered by reports, with the same refusals.
 *
 * @see interface 4.5, decisions 8
 */

import { faultAt, ifRefused, OUT_OF_REACH, type ServiceError } from '../../base/errors.js';
import { isJsonObject, parsePlainJson } from '../../base/json/json.js';
import { parseOquery } from '../../base/languages/oquery.js';
import { dayOfWord, isDay } from '../../base/model/calendar.js';
import type { DayWord, Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { valueAtPath } from '../../base/model/value-at-path.js';
import { todayIn } from '../../school/reports/engine/school-calendar.js';
import { unknownName } from '../../school/reports/shared/assert-place.js';
import { endBeforeStart } from '../../school/reports/shared/common-parameters.js';
import type { StoredRecord } from '../../store/reading/stored-record.js';
import type { RecordResolver } from '../resolvers/records/record-resolver.js';
import { type RequestContext, requireScope } from '../resolvers/request-context.js';
import type { CollectionParameter, Named, NamedPlace } from './collection-parameters.js';
import { missing } from './parameter-reader.js';
import type { RestRequest } from './route.js';

interface Sent {
  readonly parameter: CollectionParameter;
  readonly text: string;
  readonly filter: Filter;
}

/** Names to suggest from; a school has fewer classes and roles. */
const MOST_NAMES = 500;

/**
 * The conditions of the parameters that were sent.
 *
 * @throws INVALID_VALUE (400), also for an end before its start; MALFORMED_REQUEST (400) for a parameter that
 *   a condition of `oquery` on the same field excludes: together they would find nothing
 */
export function readCollectionFilters(
  known: readonly CollectionParameter[],
  { context, parameters }: RestRequest,
): readonly Sent[] {
  if (known.length === 0) return [];
  const { timeZone } = requireScope(context).domain;
  const now = new Date();
  const today = todayIn(timeZone, now);
  const conditions = conditionsOf(parseOquery(parameters.oquery ?? ''));
  const sent = known.flatMap((parameter) => {
    const text = parameters[parameter.name] ?? (parameter.mayBeInOquery && equalTo(parameter, conditions));
    if (parameter.isRequired && !text) throw missing(parameter);
    return text === undefined ? [] : [{ parameter, text, filter: parameter.toFilter(text, today) }];
  });
  const { start, end } = parameters;
  const isRange = sent.some(({ parameter }) => parameter.name === 'end');
  // Both are days, or their filters would have been refused; reports know fewer days than records have.
  if (isRange && start !== undefined && end !== undefined && end < start)
    throw endBeforeStart(['start', start], ['end', end]);
  const others = sent.length === 0 ? [] : conditions;
  const dayAt = (word: DayWord) => dayOfWord(word, timeZone, now);
  for (const one of sent) {
    const other = others.find((condition) => excludes(one.filter, condition, dayAt));
    if (other !== undefined) throw excluded(one.parameter.name, other);
  }
  return sent;
}

/** The value that a condition requires of the field of a parameter. */
function equalTo({ path }: CollectionParameter, conditions: readonly Filter[]): string | undefined {
  const [found] = conditions.flatMap((one) =>
    one.kind === 'looseEquals' && one.path.join('.') === path.join('.') ? [one.text] : [],
  );
  return found;
}

/** The conditions that all must hold. */
function conditionsOf(filter: Filter): readonly Filter[] {
  return filter.kind === 'all' ? filter.filters.flatMap(conditionsOf) : [filter];
}

/** Whether no value satisfies the condition of a parameter and a condition of `oquery`. */
function excludes(own: Filter, other: Filter, dayAt: (word: DayWord) => string): boolean {
  if (own.kind === 'all') return own.filters.some((part) => excludes(part, other, dayAt));
  if (!('path' in own && 'path' in other) || own.path.join('.') !== other.path.join('.')) return false;
  const dayIn = ({ day }: { readonly day: string | { readonly word: DayWord } }) =>
    typeof day === 'string' ? day : dayAt(day.word);
  switch (own.kind) {
    // A range and a day or month within it: the caller probably means only one of the two.
    case 'greaterOrEqual':
    case 'lessThan':
      return other.kind === 'on' || other.kind === 'within' || isOtherText(other, undefined);
    case 'on':
      if (other.kind === 'on') return dayIn(own) !== dayIn(other);
      if (other.kind === 'within') return !dayIn(own).startsWith(other.month);
      return other.kind === 'looseEquals' && isDay(other.text) && other.text !== dayIn(own);
    case 'looseEquals':
      return isOtherText(other, own.text);
    case 'equals':
      return isOtherText(other, String(own.value));
    default:
      return false;
  }
}

function isOtherText(other: Filter, text: string | undefined): boolean {
  if (other.kind !== 'looseEquals') return false;
  if (other.isInsensitive !== true || text === undefined) return other.text !== text;
  return other.text.toLowerCase() !== text.toLowerCase();
}

function excluded(parameter: string, other: Filter): ServiceError {
  const condition = printCondition(other);
  const detail = `The parameter ${parameter} excludes ${condition} in oquery. Send one of the two.`;
  return faultAt('MALFORMED_REQUEST', detail, { parameter, expected: `either ${parameter} or ${condition}` });
}

function printCondition(condition: Filter): string {
  const name = 'path' in condition ? condition.path.join('.') : '';
  if (condition.kind === 'within') return `${name}=#in${condition.month}`;
  if (condition.kind === 'looseEquals') return `${name}=${condition.text}`;
  if (condition.kind !== 'on') return name;
  const { day } = condition;
  return `${name}=${typeof day === 'string' ? `on${day}` : day.word}`;
}

/**
 * Checks that the names in the parameters exist among the records that the caller may see; otherwise a wrong
 * class would look like one without records. Accepts any name if the caller may not read one of the places.
 *
 * @throws NOT_FOUND (404), for classes and roles with a suggestion
 */
export async function assertNamed(
  records: Pick<RecordResolver, 'records'>,
  context: RequestContext,
  { collection, sent }: { readonly collection: string; readonly sent: readonly Sent[] },
): Promise<void> {
  for (const { parameter, text } of sent) {
    const { named, path } = parameter;
    if (named === undefined) continue;
    const own = { collection, path };
    const filterAt = (place: NamedPlace): Filter => ({
      kind: named.match ?? 'looseEquals',
      path: place.path,
      text,
    });
    let isKnown: boolean | undefined = false;
    for (const place of [...named.places, own]) {
      const found = await findRecords(records, context, { ...place, filter: filterAt(place), limit: 1 });
      isKnown = found === undefined || isKnown === undefined ? undefined : found.length > 0;
      if (isKnown === true) break;
    }
    if (isKnown !== false) continue;
    const refusal = await unknown(named, { parameter: parameter.name, text, records, context });
    if (named.isHinted !== true) throw refusal;
    context.scope?.call.onHint?.(refusal.message);
  }
}

async function unknown(
  { sentence, places: [place], isSuggested }: Named,
  input: {
    readonly parameter: string;
    readonly text: string;
    readonly records: Pick<RecordResolver, 'records'>;
    readonly context: RequestContext;
  },
): Promise<ServiceError> {
  const { parameter, text, records, context } = input;
  const request = { ...place, filter: undefined, limit: MOST_NAMES };
  const found = isSuggested ? ((await findRecords(records, context, request)) ?? []) : [];
  const known = [...new Set(found.flatMap(({ json }) => namesAt(place.path, json)))];
  return unknownName(parameter, text, { sentence, known });
}

/** `undefined` if the caller may not read them, or there is no such collection. */
async function findRecords(
  records: Pick<RecordResolver, 'records'>,
  context: RequestContext,
  { path, ...request }: NamedPlace & { readonly filter: Filter | undefined; readonly limit: number },
): Promise<readonly StoredRecord[] | undefined> {
  const read = async () => await records.records(context, { ...request, projection: [path] }).page();
  return (await read().catch(ifRefused(OUT_OF_REACH, undefined)))?.records;
}

function namesAt(path: Path, json: string): readonly string[] {
  const record = parsePlainJson(json);
  const values = isJsonObject(record) ? [valueAtPath(record, path)].flat() : [];
  return values.filter((value): value is string => typeof value === 'string');
}
