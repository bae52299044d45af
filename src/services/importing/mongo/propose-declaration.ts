/** Proposes the declaration of a collection from its documents and indexes in MongoDB. */
import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import type { ColumnInspection } from '../reading/column-findings.js';
import type { SourceInspection } from '../reading/inspect-source.js';

/** A file for `schema/collections`, to be corrected by a person, with notes about what it leaves out. */
export interface ProposedDeclaration {
  readonly declaration: JsonObject;
  /** Indexes and fields that it does not take over, and why. */
  readonly notes: readonly string[];
}

interface MongoIndex {
  readonly name: string;
  readonly key: readonly (readonly [string, JsonValue])[];
  readonly isUnique: boolean;
  readonly other: readonly string[];
}

const FIELD_NAME = /^[A-Za-z0-9_$-]{1,60}$/;
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...['_id', '_collection', '__proto__', 'id', 'version', 'createdAt', 'updatedAt'],
]);
const MAX_FIELDS = 200;
/** What of an index says no more than how the server keeps it. */
const PLAIN_OPTIONS: ReadonlySet<string> = new Set(['v', 'key', 'name', 'ns', 'background', 'unique']);

export interface DeclarationEvidence {
  /** The name of the collection here. */
  readonly name: string;
  readonly inspection: Pick<SourceInspection, 'columns'>;
  readonly evidence: FieldEvidence;
  /** What MongoDB keeps of the collection, its indexes among it. */
  readonly metadata: JsonObject | undefined;
  /** The names here of all collections that a reference may point to. */
  readonly collections: readonly string[];
}

/**
 * Proposes a declaration: the fields of the first level with their types, which of them are unique or
 * indexed, indexes over several, and values unique together.
 */
export function proposeDeclaration(found: DeclarationEvidence): ProposedDeclaration {
  const { name, inspection, metadata, evidence } = found;
  const notes: string[] = [];
  const types = typesOf(inspection.columns, evidence);
  for (const field of referencesIn(inspection.columns)) {
    const target = targetOf(field, found.collections);
    if (target === undefined) notes.push(`${field} looks like a reference, but no collection is called so`);
    // The target may be imported later, or be missing in the dump.
    else types.set(field, { type: 'reference', target, mustExist: false });
  }
  const indexes = indexesOf(metadata);
  const fields = new Map<string, Record<string, JsonValue>>();
  for (const [field, type] of types) {
    if (OWN_NAMES.has(field)) {
      if (field !== '_id') notes.push(`${field} is a name of every record here, and is not declared`);
    } else if (!FIELD_NAME.test(field)) notes.push(`${field} has a name that no declaration takes`);
    else if (fields.size === MAX_FIELDS) notes.push(`${field} is one of more than ${MAX_FIELDS} fields`);
    else if (type !== undefined) fields.set(field, { name: field, ...type });
    else notes.push(`${field} ${whyUndeclared(evidence.elementKinds.get(field))}, and is not declared`);
  }
  const several: JsonValue[] = [];
  const uniqueTogether: JsonValue[] = [];
  for (const index of indexes) {
    const fault = faultOfIndex(index, fields);
    if (fault !== undefined) {
      notes.push(`the index ${index.name} is not proposed: ${fault}`);
      continue;
    }
    const paths = index.key.map(([path]) => path);
    const [first = ''] = paths;
    const field = fieldAt(first, fields);
    if (paths.length === 1 && field) field[index.isUnique ? 'unique' : 'index'] = true;
    else if (index.isUnique) {
      uniqueTogether.push({ name: ruleName(paths), parts: paths.map((path) => ({ path })) });
    } else several.push(paths);
  }
  const declaration: JsonObject = {
    name,
    ...(fields.size > 0 && { fields: [...fields.values()] }),
    ...(several.length > 0 && { indexes: several.slice(0, 16) }),
    ...(uniqueTogether.length > 0 && { uniqueTogether: uniqueTogether.slice(0, 8) }),
  };
  return { declaration, notes };
}

/** By the first step of each path; `undefined` where the cells are of several kinds. */
function typesOf(
  columns: readonly ColumnInspection[],
  { valueKinds, elementKinds }: FieldEvidence,
): Map<string, JsonObject | undefined> {
  const types = new Map<string, JsonObject | undefined>();
  for (const column of columns) {
    if (column.filled === 0) continue;
    const [field = '', ...rest] = column.column.split('.');
    if (rest.length === 0) {
      const type = elementKinds.has(field)
        ? typeOfList(column, elementKinds.get(field))
        : typeOf(column, valueKinds.get(field) ?? new Set());
      types.set(field, types.has(field) ? undefined : type);
    }
    // What has members is an object, whatever these are, unless it is something else in other documents.
    else if (!types.has(field)) types.set(field, { type: 'object' });
    else if (types.get(field)?.type !== 'object') types.set(field, undefined);
  }
  return types;
}

/** The fields of the first level that are `{value, label}` and nothing else, wherever they are there. */
function referencesIn(columns: readonly ColumnInspection[]): string[] {
  const membersByField = new Map<string, ColumnInspection[]>();
  for (const column of columns) {
    if (column.filled === 0) continue;
    const [field = ''] = column.column.split('.');
    membersByField.set(field, [...(membersByField.get(field) ?? []), column]);
  }
  return [...membersByField].flatMap(([field, members]) => {
    const label = members.find(({ column }) => column === `${field}.label`);
    const value = members.find(({ column }) => column === `${field}.value`);
    const isReference = members.length === 2 && label !== undefined && label.filled === value?.filled;
    return isReference ? [field] : [];
  });
}

/** The collection that a reference is called after: `classTeacher` of `class_teachers`. */
function targetOf(field: string, collections: readonly string[]): string | undefined {
  const one = toCollectionName(field.replace(/_?ids?$/i, ''), new Set());
  const forms = [one, `${one}s`, `${one}es`, one.replace(/y$/, 'ies')];
  return forms.find((form) => collections.includes(form));
}

function typeOf(
  { likely, kinds, filled }: ColumnInspection,
  valueKinds: ReadonlySet<EvidenceKind>,
): JsonObject | undefined {
  const hasTexts = valueKinds.has('text');
  // A declared field takes no other kind of value; a date of a dump is a text as others are.
  const several = new Set([...valueKinds].map((kind) => (kind === 'instant' ? 'text' : kind)));
  if (several.size > 1) return undefined;
  switch (likely.kind) {
    case 'integer':
    case 'number':
      return !hasTexts && isAll(kinds, filled, ['integer', 'number']) ? { type: 'number' } : { type: 'text' };
    case 'boolean':
      return !hasTexts && isAll(kinds, filled, ['boolean']) ? { type: 'boolean' } : { type: 'text' };
    case 'instant':
      return isAll(kinds, filled, ['instant']) ? { type: 'datetime' } : { type: 'text' };
    case 'day':
      return likely.format === 'YYYY-MM-DD' && isAll(kinds, filled, ['day'])
        ? { type: 'datetime', format: 'date' }
        : { type: 'text' };
    case 'list':
    case 'object':
      return undefined;
    default:
      return { type: 'text' };
  }
}

/** A list whose elements are all of one kind. */
function typeOfList(
  { kinds, filled }: ColumnInspection,
  elementKinds: ReadonlySet<EvidenceKind> | undefined,
): JsonObject | undefined {
  const [kind, ...others] = elementKinds ?? [];
  if (kind === undefined || kind === 'other' || others.length > 0 || !isAll(kinds, filled, ['list'])) {
    return undefined;
  }
  return { type: kind === 'instant' ? 'datetime' : kind, list: true };
}

function whyUndeclared(elementKinds: ReadonlySet<EvidenceKind> | undefined): string {
  return elementKinds?.size === 0 ? 'holds no list with an element' : 'holds values of several kinds';
}

function isAll(kinds: ColumnInspection['kinds'], filled: number, wanted: readonly string[]): boolean {
  return kinds.some(({ kind, count }) => wanted.includes(kind) && count === filled);
}

function indexesOf(metadata: JsonObject | undefined): MongoIndex[] {
  const listed = metadata?.indexes;
  if (!Array.isArray(listed)) return [];
  return listed.filter(isJsonObject).flatMap((index: JsonObject): MongoIndex[] => {
    const key = isJsonObject(index.key) ? Object.entries(index.key) : [];
    if (key.length === 0 || (key.length === 1 && key[0]?.[0] === '_id')) return [];
    return [
      {
        name: typeof index.name === 'string' ? index.name : key.map(([path]) => path).join('_'),
        key,
        isUnique: index.unique === true,
        other: Object.keys(index).filter((option) => !PLAIN_OPTIONS.has(option)),
      },
    ];
  });
}

/** Why a declaration cannot ask for an index; `undefined` if it can. */
function faultOfIndex(index: MongoIndex, fields: ReadonlyMap<string, JsonObject>): string | undefined {
  const special = index.key.find(([, direction]) => !isDirection(direction));
  if (special) return `it is of the kind ${JSON.stringify(directionOf(special[1]))}`;
  // A sparse one is what unique rules are here anyway: a record without the value is not compared.
  const options = index.other.filter((option) => option !== 'sparse');
  if (options.length > 0) return `it has ${options.join(', ')}`;
  const most = index.isUnique ? 8 : 4;
  if (index.key.length > most) return `it is over more than ${most} fields`;
  const unknown = index.key.find(([path]) => !isIndexed(fieldAt(path, fields)));
  return unknown && `${unknown[0]} is no declared field of one value`;
}

/** A reference is indexed by its value: `student.value`. */
function fieldAt<Field extends JsonObject>(
  path: string,
  fields: ReadonlyMap<string, Field>,
): Field | undefined {
  const reference = fields.get(path.replace(/\.value$/, ''));
  return reference?.type === 'reference' && path.endsWith('.value') ? reference : fields.get(path);
}

function isIndexed(field: JsonObject | undefined): boolean {
  return field !== undefined && field.type !== 'object' && field.list !== true;
}

/** Extended JSON writes `1` as `{"$numberInt": "1"}`, old servers as a float. */
function directionOf(sent: JsonValue): JsonValue {
  if (!isJsonObject(sent)) return sent;
  return Number(sent.$numberInt ?? sent.$numberLong ?? sent.$numberDouble);
}

function isDirection(sent: JsonValue): boolean {
  const direction = directionOf(sent);
  return direction === 1 || direction === -1;
}

function ruleName(paths: readonly string[]): string {
  const name = paths
    .join('_')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '_')
    .slice(0, 40);
  return /^[a-z]/.test(name) ? name : `u${name}`.slice(0, 40);
}

const MAX_LENGTH = 40;

/**
 * The name of a collection here for one of MongoDB: `FeeReceipts` is `fee_receipts`, `exams.marks` is
 * `exams_marks`. Other than those that are taken.
 */
export function toCollectionName(name: string, taken: ReadonlySet<string>): string {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  const base = (/^[a-z]/.test(snake) ? snake : `c_${snake}`).slice(0, MAX_LENGTH).replace(/_$/, '');
  for (let count = 1; ; count += 1) {
    const ending = count === 1 ? '' : `_${count}`;
    const found = base.slice(0, MAX_LENGTH - ending.length) + ending;
    if (!taken.has(found)) return found;
  }
}

export interface FieldEvidence {
  /** By the field: what its values are, in all documents. */
  readonly valueKinds: Map<string, Set<EvidenceKind>>;
  /** By the fields in which lists stand: what the elements of these are. */
  readonly elementKinds: Map<string, Set<EvidenceKind>>;
}

/** `other`: a list, or null. */
type EvidenceKind = 'text' | 'number' | 'boolean' | 'instant' | 'object' | 'other';

/** As the dates of a dump are told. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function createFieldEvidence(): FieldEvidence {
  return { valueKinds: new Map(), elementKinds: new Map() };
}

export function addFieldEvidence(
  { valueKinds, elementKinds }: FieldEvidence,
  document: Readonly<Record<string, unknown>>,
): void {
  for (const name in document) {
    const value = document[name];
    // A null says nothing of the others.
    if (value === null) continue;
    kindsIn(valueKinds, name).add(kindOf(value));
    if (!Array.isArray(value)) continue;
    const kinds = kindsIn(elementKinds, name);
    for (const element of value) kinds.add(kindOf(element));
  }
}

function kindsIn(kindsByField: Map<string, Set<EvidenceKind>>, name: string): Set<EvidenceKind> {
  const known = kindsByField.get(name);
  if (known !== undefined) return known;
  const kinds = new Set<EvidenceKind>();
  kindsByField.set(name, kinds);
  return kinds;
}

function kindOf(value: unknown): EvidenceKind {
  if (typeof value === 'string') return INSTANT.test(value) ? 'instant' : 'text';
  if (typeof value === 'number' || isExactNumber(value)) return 'number';
  if (typeof value === 'boolean') return 'boolean';
  // No declared list has lists or null as its elements.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? 'object' : 'other';
}
