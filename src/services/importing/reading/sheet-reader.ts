/** Collects the rows of a sheet from its elements. */

import { closeSync, readSync, writeSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../../base/errors.js';
import { ExactNumber, toPlainNumber } from '../../../base/json/json.js';
import { decodeXstring } from '../../../base/tables/xstring.js';
import { dayOfSerial } from '../cells/day-cell.js';
import { openNamelessFile } from './nameless-file.js';
import { SOURCE_LIMITS } from './row-source.js';
import { assertNotWider, type CellValue, isBlankRow, type TableRow } from './table-row.js';

/** A row of a sheet, with the faults of its cells. */
export interface SheetRow extends TableRow {
  readonly fault?: CellOfFault;
  /** @see SourceRow.isHidden */
  readonly isHidden: boolean;
}

/** A cell that cannot be read: its column, from 0, and the fault. */
interface CellOfFault {
  readonly column: number;
  readonly detail: string;
}

interface SheetContext {
  readonly strings: Pick<SharedStrings, 'at'>;
  readonly styles: CellStyles;
  readonly dateSystem: 'serial' | 'serial-1904';
  /** Merged areas of one column and several rows. The value of their first cell applies to all of them. */
  readonly merged: readonly MergedCells[];
}

export interface MergedCells {
  readonly column: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

const MS_OF_A_DAY = 86_400_000;
/** The last row that any spreadsheet program has: LibreOffice with its option for large sheets. */
const MAX_ROW = 16_777_216;

/** Receives the elements of a sheet and returns its complete rows. Blank rows are left out. */
export class SheetReader {
  readonly #context: SheetContext;
  readonly #mergedByFirst: ReadonlyMap<string, MergedCells>;
  readonly #open = new Map<number, { readonly lastRow: number; readonly value: CellValue }>();
  #rows: SheetRow[] = [];
  #number = 0;
  #cells: CellValue[] = [];
  #fault: CellOfFault | undefined;
  #isHidden = false;
  #column = -1;
  #type = 'n';
  #style = 0;
  #text = '';
  #formula = false;
  #hasValue = false;
  /** Whether to collect the current text: that of a value or within the cell, and not that of a formula. */
  #taking = false;

  constructor(context: SheetContext) {
    this.#context = context;
    this.#mergedByFirst = new Map(context.merged.map((area) => [`${area.firstRow}:${area.column}`, area]));
  }

  takeRows(): readonly SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'row') {
      this.#number = this.#numberOf(attributes.r);
      this.#cells = [];
      this.#fault = undefined;
      this.#isHidden = isTrue(attributes.hidden);
      this.#column = -1;
    } else if (name === 'c') {
      this.#column = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r);
      this.#type = attributes.t ?? 'n';
      this.#style = Number(attributes.s ?? 0);
      this.#text = '';
      this.#formula = false;
      this.#hasValue = false;
    } else if (name === 'v' || name === 't') {
      this.#taking = true;
      this.#hasValue = true;
    } else if (name === 'f') this.#formula = true;
  }

  /** Rows are numbered in order, because an import continues behind the row it has written last. */
  #numberOf(sent = String(this.#number + 1)): number {
    const number = Number(sent);
    if (Number.isInteger(number) && number > this.#number && number <= MAX_ROW) return number;
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Row ${sent.slice(0, 20)} of the sheet comes after row ${this.#number}. ` +
        'Save the workbook again, with its rows in order.',
    );
  }

  text(text: string): void {
    if (!this.#taking) return;
    this.#text += text;
    const { maxCellLength } = SOURCE_LIMITS;
    if (this.#text.length > maxCellLength) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `Cell ${this.#name()} has more than ${maxCellLength} characters, the most that are read. Shorten it.`,
      );
    }
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#taking = false;
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#endRow();
  }

  #endCell(): void {
    const value = this.#value();
    if (value === null || value === '') return;
    assertNotWider(this.#column + 1, this.#number);
    this.#set(this.#column, value);
    const area = this.#mergedByFirst.get(`${this.#number}:${this.#column}`);
    if (area) this.#open.set(area.column, { lastRow: area.lastRow, value });
  }

  #endRow(): void {
    for (const [column, { lastRow, value }] of this.#open) {
      if (this.#number > lastRow) this.#open.delete(column);
      else if ((this.#cells[column] ?? null) === null && !isBlankRow(this.#cells)) this.#set(column, value);
    }
    if (isBlankRow(this.#cells) && this.#fault === undefined) return;
    const row = { number: this.#number, cells: this.#cells, isHidden: this.#isHidden };
    this.#rows.push(this.#fault === undefined ? row : { ...row, fault: this.#fault });
  }

  /** Missing cells before it are blank. */
  #set(column: number, value: CellValue): void {
    while (this.#cells.length < column) this.#cells.push(null);
    this.#cells[column] = value;
  }

  #value(): CellValue {
    // Programs that do not compute formulas write an empty value. It is an empty text only by its type.
    const isUncomputed = this.#formula && this.#type !== 'str' && this.#text === '';
    if (!this.#hasValue || isUncomputed) {
      if (this.#formula) {
        this.#note(
          'is a formula without a value; ' +
            'open the workbook in a spreadsheet program and save it, or put the value in its place',
        );
      }
      return null;
    }
    switch (this.#type) {
      case 's':
        return this.#sharedText();
      case 'inlineStr':
      case 'str':
        return decodeXstring(this.#text);
      case 'b':
        return isTrue(this.#text);
      case 'e':
        this.#note(`holds the error ${this.#text}; correct it, or empty the cell`);
        return null;
      case 'd':
        return this.#text;
      default:
        return this.#numeric();
    }
  }

  #sharedText(): CellValue {
    const text = this.#context.strings.at(Number(this.#text));
    if (text !== undefined) return decodeXstring(text);
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Cell ${this.#name()} names a text that the workbook does not have; save it again.`,
    );
  }

  #numeric(): CellValue {
    const number = Number(this.#text);
    if (this.#text.trim() === '' || Number.isNaN(number)) return this.#text;
    const { styles } = this.#context;
    const digits = styles.digitsAt(this.#style);
    if (digits > 1 && Number.isSafeInteger(number) && number >= 0)
      return String(number).padStart(digits, '0');
    const styled = styles.at(this.#style);
    if (styled === 'percent') return `${Number((number * 100).toPrecision(15))}%`;
    return styled === 'number' ? plainNumber(this.#text, number) : this.#time(number, styled);
  }

  /**
   * ISO texts of the local time that the sheet shows. A workbook has no time zones except UTC, which its
   * format declares.
   */
  #time(serial: number, styled: Exclude<StyledAs, 'number' | 'percent'>): CellValue {
    const milliseconds = Math.round(serial * MS_OF_A_DAY);
    const utc = new Date(milliseconds % MS_OF_A_DAY).toISOString().slice(11);
    const time = utc.slice(0, -1).replace('.000', '');
    if (styled === 'time' && milliseconds >= 0 && milliseconds < MS_OF_A_DAY) return time;
    const day = dayOfSerial(milliseconds / MS_OF_A_DAY, this.#context.dateSystem);
    if (serial < 0 || day === undefined) return this.#noDay(serial);
    if (styled === 'utc') return `${day}T${utc}`;
    return styled === 'instant' || milliseconds % MS_OF_A_DAY !== 0 ? `${day}T${time}` : day;
  }

  #noDay(serial: number): CellValue {
    this.#note(`shows ${serial} as a day, but it is not one; write the day as text`);
    return null;
  }

  /** Only the first fault of a row is reported. */
  #note(detail: string): void {
    this.#fault ??= { column: this.#column, detail: `cell ${this.#name()} ${detail}` };
  }

  /** The name of the cell for people: `C5`. */
  #name(): string {
    return `${lettersOf(this.#column)}${this.#number}`;
  }
}

/**
 * Spreadsheets write floats with 17 digits: 0.10000000000000001 for 0.1. A number with more digits was never
 * a float. Neither was a number with trailing zeros after its point, as in our own exports (12.50).
 */
function plainNumber(text: string, number: number): CellValue {
  if (/^-?\d+\.\d*0$/.test(text)) return new ExactNumber(text);
  const digits = text.replace(/e.*/i, '').replaceAll(/\D/g, '').replace(/^0+/, '');
  return digits.length > 17 ? toPlainNumber(text) : number;
}

/** Whether a boolean of the XML is true. */
export function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true';
}

/** `C5` is 2. */
export function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at += 1) {
    const code = reference.charCodeAt(at);
    if (code < 0x41 || code > 0x5a) break;
    column = column * 26 + code - 0x40;
  }
  return column - 1;
}

/** 2 is `C`. */
function lettersOf(column: number): string {
  const rest = Math.floor(column / 26) - 1;
  return `${rest >= 0 ? lettersOf(rest) : ''}${String.fromCharCode(0x41 + (column % 26))}`;
}

/** The meaning of a number with the style. */
type StyledAs = 'number' | 'percent' | 'day' | 'time' | 'instant' | 'utc';

/** The formats that a workbook need not declare, by number. ECMA-376, part 1, 18.8.30. */
function builtInFormat(id: number): StyledAs {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'day';
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47)) return 'time';
  if (id === 9 || id === 10) return 'percent';
  return id === 22 ? 'instant' : 'number';
}

/**
 * The meaning of a format code. The letters of days and times count, except those in quotes, after a
 * backslash, or in brackets that are not an elapsed time (`[Red]`, `[$-409]`). Only the first part of the
 * code is for numbers that are not negative.
 */
function styledByCode(code: string): StyledAs {
  const [first = ''] = code.split(';');
  const letters = first
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!(?:h+|m+|s+)\])[^[\]]*\]/gi, '')
    .toLowerCase();
  if (letters.includes('%')) return 'percent';
  if (/general/.test(letters)) return 'number';
  const hasDay = /[yd]/.test(letters);
  const hasTime = /[hs]/.test(letters);
  // Our own exports declare UTC by this format, because a workbook has no time zones.
  if (hasDay && hasTime) return /"UTC"/.test(first) ? 'utc' : 'instant';
  if (hasDay || (/m/.test(letters) && !hasTime)) return 'day';
  return hasTime ? 'time' : 'number';
}

function digitsOfCode(code: string): number {
  const [first = ''] = code.split(';');
  return /^0{2,32}$/.test(first) ? first.length : 1;
}

/** Collects the meaning of each style from the elements of `styles.xml`. */
export class CellStyles {
  readonly #codesById = new Map<number, string>();
  readonly #styles: StyledAs[] = [];
  readonly #digits: number[] = [];
  #isInCells = false;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const id = Number(attributes.numFmtId ?? 0);
    if (name === 'numFmt') this.#codesById.set(id, attributes.formatCode ?? '');
    else if (name === 'cellXfs') this.#isInCells = true;
    else if (name === 'xf' && this.#isInCells) {
      const code = this.#codesById.get(id);
      this.#styles.push(code === undefined ? builtInFormat(id) : styledByCode(code));
      this.#digits.push(digitsOfCode(code ?? ''));
    }
  }

  close(name: string): void {
    if (name === 'cellXfs') this.#isInCells = false;
  }

  at(index: number): StyledAs {
    return this.#styles[index] ?? 'number';
  }

  /**
   * The minimum number of digits of a whole number, filled with leading zeros: 5 for `00000`, which is a
   * code.
   */
  digitsAt(index: number): number {
    return this.#digits[index] ?? 1;
  }
}

/** Texts beyond this size are moved from memory to a file: 8 MiB. */
const MAX_HELD_BYTES = 8 * 1024 ** 2;
const PAGE_BYTES = 64 * 1024;
const MAX_PAGES = 64;
const FIRST_OFFSETS = 1_024;

/**
 * Texts by number, in little memory for any number of texts: eight bytes for each, and the part that was
 * read last. Most cells refer to texts near those of the previous cells, so that few parts are read twice.
 * The caller must dispose of it.
 */
export class SharedStrings implements Disposable {
  #offsets = new Float64Array(FIRST_OFFSETS);
  #count = 0;
  #written = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #held: Buffer | undefined;
  #file: number | undefined;
  readonly #pages = new LRUCache<number, Buffer>({ max: MAX_PAGES, memoMethod: (page) => this.#read(page) });

  add(text: string): void {
    if (this.#count + 1 >= this.#offsets.length) {
      const larger = new Float64Array(this.#offsets.length * 2);
      larger.set(this.#offsets);
      this.#offsets = larger;
    }
    const bytes = Buffer.from(text);
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#count += 1;
    this.#offsets[this.#count] = (this.#offsets[this.#count - 1] ?? 0) + bytes.length;
    if (this.#pendingBytes > MAX_HELD_BYTES) this.#spill();
  }

  /** Call it after adding the last text. */
  seal(): void {
    if (this.#file !== undefined) this.#spill();
    else this.#held = Buffer.concat(this.#pending);
    this.#pending = [];
  }

  /** `undefined` for a number beyond the last text. */
  at(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    const start = this.#offsets[index] ?? 0;
    const end = this.#offsets[index + 1] ?? 0;
    return this.#held ? this.#held.toString('utf8', start, end) : this.#readText(start, end);
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #spill(): void {
    this.#file ??= openNamelessFile();
    const bytes = Buffer.concat(this.#pending);
    writeSync(this.#file, bytes, 0, bytes.length, this.#written);
    this.#written += bytes.length;
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #readText(start: number, end: number): string {
    const first = Math.floor(start / PAGE_BYTES);
    const last = Math.floor(Math.max(start, end - 1) / PAGE_BYTES);
    const parts: Buffer[] = [];
    for (let page = first; page <= last; page += 1) {
      const from = Math.max(0, start - page * PAGE_BYTES);
      parts.push(this.#pages.memo(page).subarray(from, end - page * PAGE_BYTES));
    }
    return Buffer.concat(parts).toString();
  }

  #read(number: number): Buffer {
    const page = Buffer.alloc(PAGE_BYTES);
    if (this.#file !== undefined) readSync(this.#file, page, 0, PAGE_BYTES, number * PAGE_BYTES);
    return page;
  }
}
