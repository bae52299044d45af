/** Surveys documents of MongoDB, and proposes the declaration that they and their indexes suggest. */

import path from 'node:path';
import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import { isDay } from '../../../base/model/calendar.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { AlterationCounts, type CountedAlteration } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import { isReference } from '../reading/plain-document.js';
import type { SourceFormat, SourceRow } from '../reading/row-source.js';

/** What becomes of the documents of a collection. */
export interface CollectionReport {
  readonly documents: number;
  readonly alterations: readonly CountedAlteration[];
  /** Alterations of kinds that are not listed, because there are too many kinds. */
  readonly unlistedAlterations: number;
  readonly faults: {
    readonly count: number;
    readonly samples: readonly { readonly number: number; readonly fault: string }[];
  };
}

/** `other`: null as an element of a list. */
type Kind = 'text' | 'day' | 'instant' | 'number' | 'boolean' | 'object' | 'reference' | 'list' | 'other';

/** The kinds of the values of a field, and of the elements of its lists. */
interface FieldKinds {
  readonly values: Set<Kind>;
  readonly elements: Set<Kind>;
}

/** Documents from which types are guessed. */
const SAMPLE_ROWS = 5_000;
const MAX_FAULTS = 20;
const MAX_KINDS = 1_000;

/** Takes the documents of a collection one by one; its memory does not grow with them. */
export class DocumentSurvey {
  /** By the names of the first level, in the order of their first occurrence. */
  readonly kindsByField = new Map<string, FieldKinds>();
  #documents = 0;
  #faults = 0;
  readonly #samples: { readonly number: number; readonly fault: string }[] = [];
  readonly #alterations = new AlterationCounts(MAX_KINDS);

  add({ number, values, fault, alterations = [] }: SourceRow): void {
    this.#documents += 1;
    if (fault !== undefined) {
      this.#faults += 1;
      if (this.#samples.length < MAX_FAULTS) this.#samples.push({ number, fault });
    }
    this.#alterations.add(alterations, typeof values._id === 'string' ? values._id : `document ${number}`);
    if (this.#documents > SAMPLE_ROWS) return;
    for (const [name, value] of Object.entries(values)) {
      // An empty value says nothing of the others.
      if (value === null || value === '') continue;
      const kinds = getOrMake(this.kindsByField, name, () => ({ values: new Set(), elements: new Set() }));
      kinds.values.add(kindOf(value));
      if (Array.isArray(value)) for (const element of value) kinds.elements.add(kindOf(element));
    }
  }

  get report(): CollectionReport {
    return {
      documents: this.#documents,
      alterations: this.#alterations.list(),
      unlistedAlterations: this.#alterations.unlisted,
      faults: { count: this.#faults, samples: this.#samples },
    };
  }
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function kindOf(value: unknown): Kind {
  if (typeof value === 'string') {
    if (INSTANT.test(value)) return 'instant';
    return isDay(value) ? 'day' : 'text';
  }
  if (typeof value === 'number' || isExactNumber(value)) return 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'other';
  return isReference(value) ? 'reference' : 'object';
}

/**
 * Reads all documents of a file; `onProgress` gets the number of documents read.
 *
 * @throws MALFORMED_REQUEST, LIMIT_EXCEEDED for a file that cannot be read; the reason of the signal
 */
export async function surveyDocuments(
  file: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (documents: number) => void },
): Promise<{ readonly format: SourceFormat; readonly survey: DocumentSurvey }> {
  const named = { path: file, name: path.basename(file) };
  const found = await openRowSource(named);
  // Plain JSON of mongoexport is extended JSON too: its `_id` is to be one of ours.
  const isJson = found.format === 'json' || found.format === 'ndjson';
  const source = isJson ? await openRowSource(named, { format: 'ejson' }) : found;
  const survey = new DocumentSurvey();
  for await (const rows of source.rows(signal)) {
    for (const row of rows) survey.add(row);
    onProgress(survey.report.documents);
  }
  return { format: source.format, survey };
}

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
/** Options of an index that only say how the server stores it. */
const PLAIN_OPTIONS: ReadonlySet<string> = new Set(['v', 'key', 'name', 'ns', 'background', 'unique']);

export interface DeclarationEvidence {
  /** The name of the collection here. */
  readonly name: string;
  readonly survey: Pick<DocumentSurvey, 'kindsByField'>;
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
  const { name, metadata, survey } = found;
  const notes: string[] = [];
  const fields = new Map<string, Record<string, JsonValue>>();
  for (const [field, kinds] of survey.kindsByField) {
    if (OWN_NAMES.has(field)) {
      if (field !== '_id') notes.push(`${field} is a name of every record here, and is not declared`);
      continue;
    }
    const isReference = kinds.values.size === 1 && kinds.values.has('reference');
    const target = isReference ? targetOf(field, found.collections) : undefined;
    if (isReference && target === undefined)
      notes.push(`${field} looks like a reference, but no collection is called so`);
    const type = target === undefined ? typeOf(kinds) : { type: 'reference', target, mustExist: false };
    if (!FIELD_NAME.test(field)) notes.push(`${field} has a name that no declaration takes`);
    else if (fields.size === MAX_FIELDS) notes.push(`${field} is one of more than ${MAX_FIELDS} fields`);
    else if (type !== undefined) fields.set(field, { name: field, ...type });
    else {
      const isEmpty = kinds.values.size === 1 && kinds.elements.size === 0;
      const why = isEmpty ? 'holds no list with an element' : 'holds values of several kinds';
      notes.push(`${field} ${why}, and is not declared`);
    }
  }
  const several: JsonValue[] = [];
  const uniqueTogether: JsonValue[] = [];
  for (const index of indexesOf(metadata)) {
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

/** The collection that a reference is called after: `classTeacher` of `class_teachers`. */
function targetOf(field: string, collections: readonly string[]): string | undefined {
  const one = toCollectionName(field.replace(/_?ids?$/i, ''), new Set());
  const forms = [one, `${one}s`, `${one}es`, one.replace(/y$/, 'ies')];
  return forms.find((form) => collections.includes(form));
}

/** The type of values that are all of one kind. */
const TYPES: Readonly<Record<Kind, JsonObject | undefined>> = {
  text: { type: 'text' },
  day: { type: 'datetime', format: 'date' },
  instant: { type: 'datetime' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  reference: { type: 'object' },
  list: undefined,
  other: undefined,
};
const TEXTS: readonly Kind[] = ['text', 'day', 'instant'];
const OBJECTS: readonly Kind[] = ['object', 'reference'];

/** A declared field takes no other kind of value; `undefined` where the values are of several. */
function typeOf({ values, elements }: FieldKinds): JsonObject | undefined {
  const [kind, ...others] = values;
  if (kind === undefined) return undefined;
  if (kind === 'list' && others.length === 0) {
    const type = typeOf({ values: elements, elements: new Set() });
    return type && { ...type, list: true };
  }
  if (others.length === 0) return TYPES[kind];
  const isAll = (kinds: readonly Kind[]) => [...values].every((one) => kinds.includes(one));
  if (isAll(TEXTS)) return TYPES.text;
  return isAll(OBJECTS) ? TYPES.object : undefined;
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
