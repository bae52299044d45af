/** `expand=student`: the records that references point to, as `record` beside their `value` and `label`. */
import { ServiceError } from '../../base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  parseKeepingDigits,
  printExactJson,
} from '../../base/json/json.js';
import type { Field } from '../../base/model/collection.js';
import { isList } from '../../base/model/compare-json.js';
import type { Path } from '../../base/model/path.js';
import { isTableFormat } from '../../base/tables/format.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { listsOfObjects } from '../../services/exporting/record-columns.js';
import type { RecordSet } from '../../store/reading/record-set.js';
import { byIds, type RecordResolver } from '../resolvers/records/record-resolver.js';
import { formatOf } from './format-parameters.js';
import type { RestRequest } from './route.js';

/** Returns the texts of the records with what their references point to. */
export type ExpandReferences = (texts: readonly string[]) => Promise<readonly string[]>;

interface Expanding {
  readonly set: Pick<RecordSet, 'collection' | 'hiddenFields'>;
  readonly records: Pick<RecordResolver, 'records' | 'assertAllowed'>;
  readonly request: RestRequest;
}

interface Reference {
  readonly path: Path;
  readonly targets: readonly string[];
}

/**
 * Reads the parameter: the paths of references, separated by commas. A list of objects may be among them; in
 * JSON its elements are there in any case. `undefined`: nothing is to be added. One statement for each
 * collection reads what a batch of records points to; `record` is null where there is none, or none that the
 * caller may see.
 *
 * @throws INVALID_VALUE (400) for another path; FORBIDDEN (403) if the caller may read no target of a
 *   reference
 */
export function expandReferences(expanding: Expanding): ExpandReferences | undefined {
  const { set, records, request } = expanding;
  const { expand } = request.parameters;
  if (expand === undefined || isTableFormat(formatOf(request))) return undefined;
  const isShown = (name = '') => !set.hiddenFields.has(name);
  const known = referencesIn(set.collection.fields).filter(({ path }) => isShown(path[0]));
  const lists = listsOfObjects(set.collection).filter(isShown);
  const references = expand.split(',').flatMap((text) => {
    const name = text.trim();
    const found = known.find(({ path }) => path.join('.') === name);
    if (found === undefined && !lists.includes(name)) throw unknownReference(name, known, set);
    return found ?? [];
  });
  for (const { targets } of references) {
    const [first = ''] = targets;
    if (!targets.some((target) => isReadable(target, expanding)))
      records.assertAllowed(request.context, first, 'read');
  }
  return references.length === 0 ? undefined : (texts) => expandBatch(texts, references, expanding);
}

function isReadable(collection: string, { records, request }: Expanding): boolean {
  try {
    records.assertAllowed(request.context, collection, 'read');
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

function referencesIn(fields: readonly Field[], outer: Path = []): readonly Reference[] {
  return fields.flatMap(({ name, type, targets, fields: members }) =>
    type === 'reference' ? [{ path: [...outer, name], targets }] : referencesIn(members, [...outer, name]),
  );
}

function unknownReference(
  name: string,
  known: readonly Reference[],
  { collection }: Expanding['set'],
): ServiceError {
  const paths = known.map(({ path }) => path.join('.'));
  const expected = `references of ${collection.name}: ${paths.join(', ') || 'there is none'}`;
  const hint = didYouMean(name, paths);
  const detail = `The parameter expand names ${JSON.stringify(name)}; expected ${expected}.${hint}`;
  return new ServiceError('INVALID_VALUE', detail, {
    errors: [{ detail, parameter: 'expand', expected, sent: name }],
  });
}

async function expandBatch(
  texts: readonly string[],
  references: readonly Reference[],
  expanding: Expanding,
): Promise<readonly string[]> {
  const parsed = texts.map((text) => parseKeepingDigits(text));
  const places = references.flatMap(({ path, targets }) =>
    parsed.flatMap((record) => referencesAt(record, path)).map((place) => ({ place, targets })),
  );
  const ids = new Map<string, Set<string>>();
  for (const { place, targets } of places) {
    for (const target of targets) ids.set(target, (ids.get(target) ?? new Set()).add(place.value));
  }
  const found = new Map<string, ReadonlyMap<string, JsonValue>>();
  for (const [collection, wanted] of ids)
    found.set(collection, await readByIds(collection, wanted, expanding));
  for (const { place, targets } of places) {
    const target = targets.find((one) => found.get(one)?.has(place.value));
    place.record = (target && found.get(target)?.get(place.value)) ?? null;
  }
  return parsed.map((record) => printExactJson(record));
}

async function readByIds(
  collection: string,
  ids: ReadonlySet<string>,
  expanding: Expanding,
): Promise<ReadonlyMap<string, JsonValue>> {
  if (!isReadable(collection, expanding)) return new Map();
  const { records, request } = expanding;
  const page = await records
    .records(request.context, { collection, filter: byIds([...ids]), limit: ids.size })
    .page();
  return new Map(page.records.map(({ id, json }) => [id, parseKeepingDigits(json)]));
}

interface StoredReference {
  readonly value: string;
  record?: JsonValue;
}

/** The references at the path, also in the elements of lists. */
function referencesAt(value: JsonValue | undefined, path: Path): readonly StoredReference[] {
  if (isList(value)) return value.flatMap((element) => referencesAt(element, path));
  if (!isJsonObject(value)) return [];
  const [name, ...rest] = path;
  if (name !== undefined) return referencesAt(memberOf(value, name), rest);
  return isReference(value) ? [value] : [];
}

function isReference(value: JsonObject): value is JsonObject & StoredReference {
  return typeof memberOf(value, 'value') === 'string';
}
