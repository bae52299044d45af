/** Which field each column of a file most likely is. */
import { type Collection, CREATED_ON, type Field } from '../../base/model/collection.js';
import { findNearest } from '../../base/text/did-you-mean.js';
import { columnsOfRecords, REST_HEADING, type RecordColumn } from '../exporting/record-columns.js';
import { type CellPart, partOfCell } from './cells/day-formats.js';
import {
  eventOf,
  findHeadingSynonym,
  findHeldHeadings,
  findJoinedHeadings,
  headingWords,
  plainHeading,
} from './heading-synonyms.js';
import type { ColumnMapping, ImportMapping } from './import-mapping.js';
import { formatsOf, targetOf } from './mapping-target.js';
import {
  ColumnFindings,
  type ColumnInspection,
  DistinctBudget,
  type FoundKind,
} from './reading/column-findings.js';

/** The last column of the list of refused rows, which may be sent again as it is. */
export const ERROR_COLUMN = 'error';

interface Candidate {
  readonly field: string;
  readonly names: readonly string[];
  readonly kind: RecordColumn['kind'] | 'reference';
  /** Whether it is the day of the record itself, which is now unless another is stated. */
  readonly isDayOfRecord?: boolean;
}

/** Words that people write for the `_id` of a record. */
const ID_WORDS = ['_id', 'id', 'record id'];

/**
 * A mapping of all columns: exact names first, then names that differ by case and spaces, the labels of
 * fields in descriptions, other names of the same thing ("Sex" for `gender`), names that differ by a letter
 * or two, and last those that share words with one field alone ("Class name" for `class`), or are the day of
 * the same event ("Date of Admission" for `admitted_on`); by the last two and by other names only where the
 * cells may be of its type. A column of texts that is called as the collection itself ("Task" of tasks) has
 * the names of its records. What is like no field is left out. A field is given to one column. A column that
 * names several fields ("Class/Sec"), and has as many parts in its cells, is given to them part by part; so
 * is a class with its section ("10A") where no column has the section alone. One that is called as a unique
 * field of what a reference points at ("Adm No" beside marks) finds the reference.
 */
export function proposeMapping(
  collection: Collection,
  { columns, found, given = NOTHING_GIVEN }: ProposedFrom,
  collectionOf: (name: string) => Collection | undefined,
): ImportMapping {
  const candidates = candidatesOf(collection);
  const taken = new Set<string>();
  const fields = new Map<string, string>();
  const give = (column: string, field: string | undefined) => {
    if (field === undefined || fields.has(column) || taken.has(field)) return;
    taken.add(field);
    fields.set(column, field);
  };
  const parted = new Map<string, readonly ColumnMapping[]>();
  const cellsOf = (column: string) => found.find((one) => one.column === column);
  const open = () => columns.filter((column) => !fields.has(column) && !parted.has(column));
  const giveEach = (fieldOf: (column: string) => string | undefined) => {
    for (const column of open()) give(column, fieldOf(column));
  };
  for (const [column, field] of given) give(column, field);
  giveEach((column) => (column === REST_HEADING ? column : undefined));
  giveEach((column) => candidates.find(({ field }) => field === column)?.field);
  giveEach((column) => (ID_WORDS.includes(column.trim().toLowerCase()) ? '_id' : undefined));
  giveEach((column) => candidates.find(({ names }) => names.includes(plainHeading(column)))?.field);
  const isFree = ({ field }: Candidate) => !taken.has(field);
  const meantBy = (heading: string, cells: ColumnInspection | undefined) => {
    const name = findHeadingSynonym(heading);
    const meant = candidates.filter((one) => name !== undefined && isFree(one) && one.names.includes(name));
    const [first] = meant.filter((one) => agrees(one, cells));
    // "Date" alone is the day of the record only where it has no other day.
    const isDoubtful = first?.isDayOfRecord && candidates.some((one) => isFree(one) && isOtherDay(one));
    return meant.length === 1 && !isDoubtful ? first?.field : undefined;
  };
  giveEach((column) => meantBy(column, cellsOf(column)));
  const mapped = (column: string, field: string | null, cells: ColumnInspection | undefined) => ({
    ...{ column, field },
    ...formatFor(field, cells, collection),
    ...valuesFor(field, cells, collection),
    ...blankFor(field, cells, collection),
  });
  const giveParts = (column: string, headings: readonly string[]): boolean => {
    const parts = proposeParts(headings, cellsOf(column)).flatMap(({ part, heading, cells }) => {
      const named = candidates.find((one) => isFree(one) && one.names.includes(plainHeading(heading)));
      const field = named && agrees(named, cells) ? named.field : meantBy(heading, cells);
      return field === undefined ? [] : [{ ...mapped(column, field, cells), part }];
    });
    const meant = new Set(parts.map(({ field }) => field));
    if (meant.size < 2 || meant.size < (parts[0]?.part.of ?? 0)) return false;
    parted.set(column, parts);
    for (const { field } of parts) if (field !== null) taken.add(field);
    return true;
  };
  for (const column of open()) giveParts(column, headingsIn(column));
  for (const [column, field] of fields) {
    const headings = findHeldHeadings(column);
    if (headings === undefined) continue;
    taken.delete(field);
    if (!giveParts(column, headings)) taken.add(field);
  }
  const keys = keysOfReferences(collection, collectionOf);
  for (const column of open()) {
    const names = [plainHeading(column), findHeadingSynonym(column)];
    const meant = keys.filter((one) => one.names.some((name) => names.includes(name)));
    const [one] = meant;
    if (meant.length !== 1 || one === undefined) continue;
    const isFound = [one.reference, `${one.reference}.value`].some((field) => taken.has(field));
    give(column, isFound ? undefined : one.field);
    taken.add(one.reference);
  }
  giveEach((column) => {
    const plain = plainHeading(column);
    if (column === ERROR_COLUMN || plain.length < 4) return undefined;
    const free = candidates.filter(isFree);
    const nearest = findNearest(
      plain,
      free.flatMap(({ names }) => names),
      Math.floor(plain.length / 4),
    );
    return free.find(({ names }) => nearest !== undefined && names.includes(nearest))?.field;
  });
  const ofCollection = new Set([...headingWords(collection.title), ...headingWords(collection.singular)]);
  giveEach((column) => {
    if (column === ERROR_COLUMN) return undefined;
    const words = headingWords(column).filter((word) => !ofCollection.has(word));
    const free = candidates
      .filter((one) => isFree(one) && agrees(one, cellsOf(column)))
      .map(({ field }) => ({ field, words: headingWords(field) }));
    const text = words.join();
    const equal = free.filter((one) => one.words.join() === text);
    const alike = equal.length > 0 ? equal : free.filter((one) => shareWords(words, one.words));
    return alike.length === 1 ? alike[0]?.field : undefined;
  });
  giveEach((column) => {
    const event = eventOf(column);
    const isOf = (name: string) => event !== undefined && eventOf(name) === event;
    const fields = candidates.filter((one) => isFree(one) && isDay(one) && isOf(one.field));
    const [first] = fields.filter((one) => agrees(one, cellsOf(column)));
    return fields.length === 1 && open().filter(isOf).length === 1 ? first?.field : undefined;
  });
  giveEach((column) => {
    const { filled = 0, likely } = cellsOf(column) ?? {};
    const holdsTexts = filled > 0 && likely?.kind === 'text';
    return holdsTexts && headingWords(column).every((word) => ofCollection.has(word))
      ? candidates.find((one) => isFree(one) && one.field === collection.labelField)?.field
      : undefined;
  });
  const isFreeForm = collection.fields.length === 0;
  return {
    columns: columns.flatMap((column): readonly ColumnMapping[] => {
      const field = fields.get(column) ?? (isFreeForm && column !== ERROR_COLUMN ? column : null);
      return parted.get(column) ?? [mapped(column, field, cellsOf(column))];
    }),
    fixed: {},
  };
}

interface ProposedFrom {
  readonly columns: readonly string[];
  readonly found: readonly ColumnInspection[];
  /** The fields of columns that were made of others. */
  readonly given?: ReadonlyMap<string, string>;
}

const NOTHING_GIVEN: ReadonlyMap<string, string> = new Map();

/** The kinds of cells that fit a field of the kind; for a kind that is not listed, any cells fit. */
const FITTING_KINDS: Readonly<Partial<Record<Candidate['kind'], readonly FoundKind['kind'][]>>> = {
  number: ['integer', 'number'],
  decimal: ['integer', 'number'],
  boolean: ['boolean'],
  date: ['day', 'instant'],
  datetime: ['day', 'instant'],
};

/** The heading by which the list of synonyms names the day of a record, as `created` and `created_on` are. */
const DAY_OF_RECORD = 'created';

function isOtherDay(one: Candidate): boolean {
  return isDay(one) && !one.isDayOfRecord && one.field !== CREATED_ON && !one.field.endsWith('_time');
}

function isDay({ kind }: Candidate): boolean {
  return kind === 'date' || kind === 'datetime';
}

/** Whether half of the cells of a column may be values of the field; an empty column always fits. */
function agrees({ kind }: Candidate, cells: ColumnInspection | undefined): boolean {
  const fitting = FITTING_KINDS[kind];
  if (fitting === undefined || cells === undefined || cells.filled === 0) return true;
  return cells.kinds.some((found) => fitting.includes(found.kind) && 2 * found.count >= cells.filled);
}

/**
 * How the cells are written, where that is not as this service writes them; of cells that are written in
 * several ways, so that the column is none of them, how most are.
 */
function formatFor(
  field: string | null,
  found: ColumnInspection | undefined,
  collection: Collection,
): Pick<ColumnMapping, 'format'> {
  if (field === null || found === undefined) return {};
  const target = targetOf(field, undefined, collection);
  const formats = target.kind === 'value' ? formatsOf(target.column.kind) : [];
  const { likely, kinds } = found;
  const isFormat = (format: string | undefined) => format !== undefined && formats.includes(format);
  // A day that begins with its year is read in every format, so the other cells decide.
  const isMixed = likely.kind === 'text' || likely.format === 'YYYY-MM-DD';
  const day = isMixed ? kinds.find((one) => isFormat(one.format) && one.format?.includes('/')) : undefined;
  const most = likely.kind === 'text' ? kinds.find((one) => isFormat(one.format)) : undefined;
  const { format } = day ?? most ?? likely;
  return isFormat(format) && format !== 'YYYY-MM-DD' && format !== 'plain' ? { format } : {};
}

/** Which allowed values the cells mean that are in capitals, a first letter alone, or initials (`HD`). */
function valuesFor(
  field: string | null,
  found: ColumnInspection | undefined,
  collection: Collection,
): Pick<ColumnMapping, 'values'> {
  const allowed = collection.fieldsByName.get(field ?? '')?.allowed ?? [];
  const values: Record<string, string> = {};
  for (const example of found?.examples ?? []) {
    if (allowed.includes(example)) continue;
    const text = example.trim().toLowerCase();
    const meant = allowed.filter((value) =>
      text.length === 1
        ? value.toLowerCase().startsWith(text)
        : value.toLowerCase() === text || initialsOf(value) === text,
    );
    if (meant.length === 1 && meant[0] !== undefined) values[example] = meant[0];
  }
  return Object.keys(values).length === 0 ? {} : { values };
}

function initialsOf(value: string): string | undefined {
  const words = value.toLowerCase().split(/[_ ]/);
  return words.length > 1 ? words.map((word) => word.slice(0, 1)).join('') : undefined;
}

/** The cells that are written for no value. A word that the field allows is a value. */
function blankFor(
  field: string | null,
  found: ColumnInspection | undefined,
  { fieldsByName }: Collection,
): Pick<ColumnMapping, 'blank'> {
  if (field === null || field === REST_HEADING) return {};
  const allowed = fieldsByName.get(field)?.allowed ?? [];
  const blank = found?.fillers?.filter((text) => !allowed.includes(text.toLowerCase())) ?? [];
  return blank.length === 0 ? {} : { blank };
}

/**
 * The key that identifies the records of the file: `_id` if it is mapped, or else a mapped unique field, or
 * mapped values unique together. If there is none, `_id`: the same rows of the same file are the same
 * records.
 */
export function proposeKey(
  collection: Collection,
  mapping: ImportMapping,
  found: readonly ColumnInspection[],
): string {
  const ofDocuments = mapping.columns.length === 0 ? found.map(({ column }) => column) : [];
  const fields = new Set([
    ...mapping.columns.map(({ field, by }) => withoutKey(field, by, collection)),
    ...Object.keys(mapping.fixed),
    ...ofDocuments,
  ]);
  if (fields.has('_id')) return '_id';
  const has = (path: string) =>
    [...fields].some(
      (field) => field !== null && (field === path || isWithin(field, path) || isWithin(path, field)),
    );
  const unique = collection.fields.find((field) => field.isUnique && has(field.name));
  if (unique !== undefined) return unique.name;
  const rule = collection.uniqueTogether.find(({ parts }) => parts.every(({ path }) => has(path.join('.'))));
  return rule?.name ?? '_id';
}

/** The field itself, or the reference if the field is the key by which a reference is found. */
function withoutKey(field: string | null, by: string | undefined, collection: Collection): string | null {
  const target = field === null ? undefined : targetOf(field, by, collection);
  return target?.kind === 'reference' ? target.path.join('.') : field;
}

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(`${outer}.`);
}

function candidatesOf(collection: Collection): readonly Candidate[] {
  const flat = columnsOfRecords(collection, undefined, new Set()).map(({ heading, path, kind }) => {
    const field = path.length === 1 ? collection.fieldsByName.get(path[0] ?? '') : undefined;
    const isDayOfRecord = field?.type === 'datetime' && field.default === 'now';
    const names = [plainHeading(heading), ...labelsOf(field), ...(isDayOfRecord ? [DAY_OF_RECORD] : [])];
    return { field: heading, kind, names, isDayOfRecord };
  });
  const references = collection.fields
    .filter(({ type }) => type === 'reference')
    .map(({ name, ...field }) => ({
      ...{ field: name, kind: 'reference' as const },
      names: [plainHeading(name), ...labelsOf(field)],
    }));
  return [...flat, ...references];
}

interface ReferenceKey {
  readonly reference: string;
  /** `student.sequence` */
  readonly field: string;
  readonly names: readonly string[];
}

/** The unique fields by which references are found, in the first collection that each points at. */
function keysOfReferences(
  { fields }: Collection,
  collectionOf: (name: string) => Collection | undefined,
): readonly ReferenceKey[] {
  const references = fields.filter(({ type }) => type === 'reference');
  return references.flatMap(({ name: reference, targets: [target = ''] }) => {
    const unique = (collectionOf(target)?.fields ?? []).filter(
      (one) => one.isUnique && one.type !== 'object',
    );
    return unique.map((key): ReferenceKey => {
      const names = [plainHeading(key.name), ...labelsOf(key)];
      const withReference = names.map((name) => plainHeading(reference) + name);
      return { reference, field: `${reference}.${key.name}`, names: [...names, ...withReference] };
    });
  });
}

/** The first words of a description are often what a form calls the field. */
function labelsOf(field: Pick<Field, 'description'> | undefined): readonly string[] {
  const [first = ''] = (field?.description ?? '').split(/[.,;:(]/, 1);
  const words = first.trim().split(/\s+/);
  return words.length <= 4 && first !== '' ? [plainHeading(first)] : [];
}

/** Whether a field has all words of a column, or a column all of a field that has more than one. */
function shareWords(ofColumn: readonly string[], ofField: readonly string[]): boolean {
  const hasAll = (fewer: readonly string[], more: readonly string[]) =>
    fewer.length > 0 && fewer.every((word) => word.length > 3 && more.includes(word));
  return hasAll(ofColumn, ofField) || (ofField.length > 1 && hasAll(ofField, ofColumn));
}

interface ProposedPart {
  readonly part: CellPart;
  /** The part of the heading that names it. */
  readonly heading: string;
  /** Its values in the first distinct cells of the column. */
  readonly cells: ColumnInspection;
}

/** Separators between two names in a heading. */
const BETWEEN_HEADINGS = /(?:(?<!\s)\s+)?[/&+,;|–—-]\s*|(?<!\s)\s+(?:and|with|cum|व|एवं|और)\s+/iu;

/**
 * Separators in cells, in the order in which they are tried: the space late, because values contain it too,
 * and the empty one, where digits and letters meet, last.
 */
const SEPARATORS = ['/', '-', '–', '|', ',', ';', ':', ' ', ''] as const;

/** The names in a heading that names several fields; fewer than two if it names one. */
function headingsIn(column: string): readonly string[] {
  return findJoinedHeadings(column) ?? column.split(BETWEEN_HEADINGS).filter((one) => one !== '');
}

/**
 * The parts of a column of which more than half of the cells have as many as there are headings, by what
 * parts most of them. None where the cells are something whole, such as a day or a telephone number.
 */
function proposeParts(
  headings: readonly string[],
  found: ColumnInspection | undefined,
): readonly ProposedPart[] {
  if (headings.length < 2 || found?.likely.kind !== 'text') return [];
  const of = headings.length;
  const byMost = SEPARATORS.map((separator) => {
    const partsOf = (cell: string) =>
      headings.map((_, at) => partOfCell(cell, { separator, number: at + 1, of }) ?? '');
    return { separator, parted: found.examples.map(partsOf).filter((parts) => !parts.includes('')) };
  }).sort((one, other) => other.parted.length - one.parted.length);
  const [most] = byMost;
  if (most === undefined || 2 * most.parted.length <= found.examples.length) return [];
  return headings.map((heading, at) => {
    const findings = new ColumnFindings(heading, new DistinctBudget());
    for (const [row, parts] of most.parted.entries()) findings.add(row, parts[at]);
    return {
      part: { separator: most.separator, number: at + 1, of },
      heading,
      cells: findings.finish(most.parted.length),
    };
  });
}
