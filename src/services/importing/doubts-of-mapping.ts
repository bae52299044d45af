/** Warnings for a person before a mapping is used: columns that are not mapped, and cells to look at. */
import type { Collection, Field } from '../../base/model/collection.js';
import { toNormalText } from '../../base/model/normal-text.js';
import type { Sought } from '../../store/writing/select-unlinked.js';
import { keyOfSought, type LinkVerdicts } from '../../store/writing/settle-links.js';
import type { ColumnMapping, ImportMapping } from './import-mapping.js';
import { invalidImport, targetOf } from './mapping-target.js';
import type { ReferenceLookups } from './preparing/row-preparer.js';
import { ERROR_COLUMN } from './propose-mapping.js';
import { type ColumnInspection, isNameOfTime } from './reading/column-findings.js';

const MOST_SHOWN = 3;
const MOST_COLUMNS = 50;
/** More different values are hardly names of classes or fee heads. */
const MOST_NAMES = 200;
/** An admission number begins with fewer. */
const MOST_ZEROS = 6;

type Found = readonly ColumnInspection[] | undefined;

/** Warnings about the columns of a table, in their order. Documents keep members that no column names. */
export function doubtsOfMapping(
  collection: Collection,
  mapping: ImportMapping,
  found: Found,
): readonly string[] {
  const unmapped = unmappedOf(mapping, found);
  const lost = unmapped.map(({ column, filled, examples }) => {
    const shown = examples.slice(0, MOST_SHOWN).join(', ');
    const named = `The column ${JSON.stringify(column)}`;
    const count = filled.toLocaleString('en');
    return `${named} is not mapped to a field, so these values are not imported: ${count} (${shown}).`;
  });
  const cells = mapping.columns.flatMap((one) => {
    const inspected = found?.find(({ column }) => column === one.column);
    return inspected === undefined ? [] : doubtsOfCells(one, inspected, collection);
  });
  return [...new Set([...lost, ...cells])].slice(0, MOST_COLUMNS);
}

/**
 * Refuses to run while a column goes nowhere whose cells fit a field that would get its default: the marks of
 * a sheet with a column of days would be written under today.
 *
 * @throws INVALID_VALUE
 */
export function assertNothingReplaced(collection: Collection, mapping: ImportMapping, found: Found): void {
  const set = new Set([...mapping.columns.map(({ field }) => field), ...Object.keys(mapping.fixed)]);
  for (const field of collection.fields) {
    if (field.default === undefined || set.has(field.name)) continue;
    const lost = unmappedOf(mapping, found).find((one) => mayHold(field, one));
    if (lost === undefined) continue;
    const shown = JSON.stringify(lost.column);
    throw invalidImport(
      'mapping',
      `The column ${shown} is not mapped (${lost.examples[0]}); "${field.name}" would get its default`,
      `"field": "${field.name}" for the column ${shown}, or "leftOut": true if it is not to be imported`,
    );
  }
}

/** The columns with values that the mapping gives to no field, without saying that they are left out. */
function unmappedOf(mapping: ImportMapping, found: Found): readonly ColumnInspection[] {
  if (mapping.columns.length === 0) return [];
  const settled = new Set(
    mapping.columns.flatMap(({ column, field, leftOut }) => (field === null && !leftOut ? [] : [column])),
  );
  return (found ?? []).filter(
    ({ column, filled }) => filled > 0 && column !== ERROR_COLUMN && !settled.has(column),
  );
}

/**
 * Whether the heading or most cells are those of the field: a day in whichever format, allowed words of a
 * field that has them.
 */
function mayHold(field: Field, { column, kinds, filled, examples }: ColumnInspection): boolean {
  if (field.type === 'datetime') {
    const days = kinds.filter(({ kind }) => kind === 'day' || kind === 'instant');
    return isNameOfTime(column) || 2 * days.reduce((sum, { count }) => sum + count, 0) > filled;
  }
  const words = new Set(field.allowed?.map((word) => word.toLowerCase()));
  return words.size > 0 && examples.every((example) => words.has(example.trim().toLowerCase()));
}

function doubtsOfCells(
  { column, field, blank }: ColumnMapping,
  { alike = [], damaged, kinds, likely }: ColumnInspection,
  collection: Collection,
): readonly string[] {
  if (field === null) return [];
  const target = targetOf(field, undefined, collection);
  const kind = target.kind === 'value' ? target.column.kind : 'text';
  const named = JSON.stringify(column);
  const doubts: string[] = [];
  const [first] = damaged?.samples ?? [];
  if (first !== undefined && kind !== 'number' && kind !== 'decimal') {
    doubts.push(
      `${named} has values that a spreadsheet has destroyed: ${damaged?.count} ` +
        `(${first.value}, row ${first.number}). Their rows are refused; ` +
        'format the column as text and fill in the originals.',
    );
  }
  const days = kinds.find((one) => one.kind === 'day' && one.format !== 'serial');
  if (kind === 'text' && days !== undefined && likely.kind !== 'day') {
    doubts.push(
      `${named} has days among other values: ${days.count}. A spreadsheet makes days of texts such as 5-6.`,
    );
  }
  const [pair] = alike;
  if (pair !== undefined && collection.fieldsByName.get(field)?.isUnique) {
    const isFolded = collection.uniqueTogether.some(({ name }) => name === field);
    const shown = pair.map((value) => JSON.stringify(value)).join(' and ');
    doubts.push(
      `${named} has values that differ only in case or blanks, such as ${shown}. ` +
        (isFolded
          ? 'They are the same here: all rows but the first are refused.'
          : 'They become several records.'),
    );
  }
  if (blank !== undefined && blank.length > 0) {
    doubts.push(`${named}: ${blank.join(', ')} counts as no value; take it out of "blank" if it is a value.`);
  }
  return doubts;
}

interface NamesOfColumn {
  readonly column: string;
  readonly values: readonly string[];
  readonly soughtOf: (value: string) => Sought;
}

interface MappedColumns {
  readonly mapping: ImportMapping;
  readonly found: readonly ColumnInspection[];
}

/** Warns of numbers in a unique text that differ from others, also of records, only in leading zeros. */
export async function warnOfLostZeros(
  collection: Collection,
  { mapping, found }: MappedColumns,
  findByField: ReferenceLookups['findByField'],
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { column, values = [] } of found) {
    const name = mapping.columns.find((one) => one.column === column)?.field ?? '';
    const field = collection.fieldsByName.get(name);
    const numbers = new Set(values.filter((value) => /^\d+$/.test(value)));
    if (field?.type !== 'text' || !field.isUnique || numbers.size === 0) continue;
    const texts = [...numbers].flatMap((value) => [value, ...spellingsOf(value)]);
    const stored = await findByField({ target: collection.name, field: name, texts });
    const isStored = (text: string) => stored.get(text)?.length !== 0;
    const otherOf = (value: string) =>
      spellingsOf(value).find((text) => text !== value && (numbers.has(text) || isStored(text)));
    const doubtful = [...numbers].filter((value) => !isStored(value) && otherOf(value) !== undefined);
    const [first] = doubtful;
    if (first === undefined) continue;
    warnings.push(
      `${JSON.stringify(column)} has numbers that differ from others only in leading zeros: ` +
        `${doubtful.length}, such as ${first} (there is ${otherOf(first)}). ` +
        'A spreadsheet may have removed zeros; such rows become records of their own.',
    );
  }
  return warnings;
}

function spellingsOf(number: string): readonly string[] {
  const plain = number.replace(/^0+(?=\d)/, '');
  return Array.from({ length: MOST_ZEROS + 1 }, (_, zeros) => '0'.repeat(zeros) + plain);
}

/** The warnings, in the order of the columns. A name is looked for by itself, without those beside it. */
export async function warnOfUnknownNames(
  collection: Collection,
  { mapping, found }: MappedColumns,
  judge: (sought: readonly Sought[]) => Promise<LinkVerdicts>,
): Promise<readonly string[]> {
  const columns = found.flatMap(({ column, values = [] }): NamesOfColumn[] => {
    if (values.length > MOST_NAMES) return [];
    const field = mapping.columns.find((one) => one.column === column)?.field;
    return collection.links.flatMap(({ in: outer, reference, members }, link) => {
      const member = members.findIndex((one) => one.field === field);
      if (member < 0 || outer.length > 0 || reference !== undefined) return [];
      const none = members.map((): string | null => null);
      const soughtOf = (value: string): Sought => {
        return { link, id: null, on: null, texts: none.with(member, toNormalText(value)) };
      };
      return [{ column, values: values.filter((value) => toNormalText(value) !== ''), soughtOf }];
    });
  });
  if (columns.length === 0) return [];
  const verdicts = await judge(columns.flatMap(({ values, soughtOf }) => values.map(soughtOf)));
  return columns.flatMap(({ column, values, soughtOf }) => {
    const named = JSON.stringify(column);
    const unknown: string[] = [];
    const respelled: string[] = [];
    for (const value of values) {
      const sought = soughtOf(value);
      const { problem, spelled } = verdicts.get(keyOfSought(sought)) ?? {};
      const stored = [...(spelled ?? sought.texts)].find((text) => text !== null);
      if (problem !== undefined) unknown.push(problem);
      else if (stored !== value) respelled.push(`${JSON.stringify(value)} as ${JSON.stringify(stored)}`);
    }
    return [
      ...(unknown.length === 0
        ? []
        : [`${named}: ${unknown.slice(0, MOST_SHOWN).join(' ')}${andMore(unknown)} Their rows are refused.`]),
      ...(respelled.length === 0
        ? []
        : [
            `${named}: names are stored in their own spelling: ${respelled.slice(0, MOST_SHOWN).join(', ')}.`,
          ]),
    ];
  });
}

function andMore({ length }: readonly string[]): string {
  return length <= MOST_SHOWN ? '' : ` ${length - MOST_SHOWN} more values name nothing.`;
}
