/** `expand=student`: the records that references point to, as `record` next to their `value` and `label`. */
import { ifRefused, OUT_OF_REACH } from '../../base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  parseKeepingDigits,
  printExactJson,
} from '../../base/json/json.js';
import { listReferenceFields } from '../../base/model/collection.js';
import { isList } from '../../base/model/compare-json.js';
import type { Path } from '../../base/model/path.js';
import { isTableFormat } from '../../base/tables/format.js';
import { listsOfObjects } from '../../services/exporting/record-columns.js';
import type { RecordSet } from '../../store/reading/record-set.js';
import { byIds, type RecordResolver } from '../resolvers/records/record-resolver.js';
import { formatOf } from './format-parameters.js';
import { invalidParameter } from './parameter-reader.js';
import type { RestRequest } from './route.js';

/** Returns the texts of the records with what their references point to. */
export type ExpandReferences = (texts: readonly string[]) => Promise<readonly string[]>;

interface Expanding {
  readonly set: Pick<RecordSet, 'collection' | 'hiddenFields'>;
  readonly records: Pick<RecordResolver, 'records'>;
  readonly request: RestRequest;
}

interface Reference {
  readonly path: Path;
  readonly targets: readonly string[];
}

/**
 * Reads the parameter: the paths of references, separated by commas. A list of objects may be among them,
 * which JSON contains anyway. `undefined`: nothing is added. One statement for each collection reads the
 * records that a batch points to; `record` is null if there is none, or none that the caller may see.
 *
 * @throws INVALID_VALUE (400) for another path
 */
export function expandReferences(expanding: Expanding): ExpandReferences | undefined {
  const { set, request } = expanding;
  const { expand } = request.parameters;
  if (expand === undefined || isTableFormat(formatOf(request))) return undefined;
  const isShown = (name = '') => !set.hiddenFields.has(name);
  const known = new Map<string, Reference>();
  for (const { path, field } of listReferenceFields(set.collection.fields)) {
    if (isShown(path[0])) known.set(path.join('.'), { path, targets: field.targets });
  }
  const lists = listsOfObjects(set.collection).filter(isShown);
  const references = expand.split(',').flatMap((text) => {
    const name = text.trim();
    const found = known.get(name);
    if (found !== undefined || lists.includes(name)) return found ?? [];
    const paths = [...known.keys()].join(', ') || 'there is none';
    throw invalidParameter('expand', name, `references of ${set.collection.name}: ${paths}`);
  });
  return references.length === 0 ? undefined : (texts) => expandBatch(texts, references, expanding);
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
  { records, request }: Expanding,
): Promise<ReadonlyMap<string, JsonValue>> {
  const read = async () =>
    await records.records(request.context, { collection, filter: byIds([...ids]), limit: ids.size }).page();
  const page = await read().catch(ifRefused(OUT_OF_REACH, undefined));
  return new Map(page?.records.map(({ id, json }) => [id, parseKeepingDigits(json)]));
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
