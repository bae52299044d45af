/** Collects the rows of a sheet from its elements. */
import { ServiceError } from '../../../base/errors.js';
import { ExactNumber, toPlainNumber } from '../../../base/json/json.js';
import { decodeXstring } from '../../../base/tables/xstring.js';
import { dayOfSerial } from '../cells/day-cell.js';
import type { CellStyles, StyledAs } from './cell-styles.js';
import type { SharedStrings } from './shared-strings.js';
import type { SourceLimits } from './source-limits.js';
import { type CellValue, isBlankRow, type TableRow, tooManyColumns } from './table-row.js';

/** A row of a sheet, with the faults of its cells. */
export interface SheetRow extends TableRow {
  readonly fault?: CellOfFault;
}

/** A cell that cannot be read: its column, from 0, and the fault. */
export interface CellOfFault {
  readonly column: number;
  readonly detail: string;
}

export interface SheetContext {
  readonly strings: Pick<SharedStrings, 'at'>;
  readonly styles: CellStyles;
  readonly dateSystem: 'serial' | 'serial-1904';
  /** Merged areas of one column and several rows. The value of their first cell applies to all of them. */
  readonly merged: readonly MergedCells[];
  readonly limits: SourceLimits;
}

export interface MergedCells {
  readonly column: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

const SECONDS_OF_A_DAY = 86_400;
const MS_OF_A_DAY = 1_000 * SECONDS_OF_A_DAY;

/** Receives the elements of a sheet and returns its complete rows. Blank rows are left out. */
export class SheetReader {
  readonly #context: SheetContext;
  readonly #mergedByFirst: ReadonlyMap<string, MergedCells>;
  readonly #open = new Map<number, { readonly lastRow: number; readonly value: CellValue }>();
  #rows: SheetRow[] = [];
  #number = 0;
  #cells: CellValue[] = [];
  #fault: CellOfFault | undefined;
  #column = -1;
  #type = 'n';
  #style = 0;
  #text = '';
  #formula = false;
  #hasValue = false;
  /**
   * Whether to collect the current text: that of a value or within the cell, and not that of a formula or of
   * a phonetic guide.
   */
  #taking = false;
  #isPhonetic = false;

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
      this.#number = attributes.r === undefined ? this.#number + 1 : Number(attributes.r);
      this.#cells = [];
      this.#fault = undefined;
      this.#column = -1;
    } else if (name === 'c') {
      this.#column = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r);
      this.#type = attributes.t ?? 'n';
      this.#style = Number(attributes.s ?? 0);
      this.#text = '';
      this.#formula = false;
      this.#hasValue = false;
    } else if (name === 'v' || name === 't') {
      this.#taking = !this.#isPhonetic;
      this.#hasValue = true;
    } else if (name === 'f') this.#formula = true;
    else if (name === 'rPh') this.#isPhonetic = true;
  }

  text(text: string): void {
    if (!this.#taking) return;
    this.#text += text;
    const { maxCellLength } = this.#context.limits;
    if (this.#text.length > maxCellLength) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `Cell ${this.#name()} has more than ${maxCellLength} characters, the most that are read. Shorten it.`,
      );
    }
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#taking = false;
    else if (name === 'rPh') this.#isPhonetic = false;
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#endRow();
  }

  #endCell(): void {
    const value = this.#value();
    if (value === null || value === '') return;
    const { maxColumns } = this.#context.limits;
    if (this.#column >= maxColumns) throw tooManyColumns(this.#number, this.#column + 1, maxColumns);
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
    const row = { number: this.#number, cells: this.#cells };
    this.#rows.push(this.#fault === undefined ? row : { ...row, fault: this.#fault });
  }

  /** Missing cells before it are blank. */
  #set(column: number, value: CellValue): void {
    while (this.#cells.length < column) this.#cells.push(null);
    this.#cells[column] = value;
  }

  #value(): CellValue {
    // Programs that do not compute formulas write an empty value. It is an empty text only if its type says
    // so.
    const isUncomputed = this.#formula && this.#type !== 'str' && this.#text === '';
    if (!this.#hasValue || isUncomputed) {
      if (this.#formula) {
        this.#tell(
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
        return this.#text === '1' || this.#text === 'true';
      case 'e':
        this.#tell(`holds the error ${this.#text}; correct it, or empty the cell`);
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
    return styled === 'number' ? plainNumber(this.#text, number) : this.#time(number, styled);
  }

  /**
   * ISO texts of the local time that the sheet shows. A workbook has no time zones except UTC, which its
   * format declares.
   */
  #time(serial: number, styled: Exclude<StyledAs, 'number'>): CellValue {
    if (styled === 'utc') return this.#utc(serial);
    const milliseconds = Math.round(serial * MS_OF_A_DAY);
    const time = new Date(milliseconds % MS_OF_A_DAY).toISOString().slice(11, 23).replace('.000', '');
    if (styled === 'time' && milliseconds >= 0 && milliseconds < MS_OF_A_DAY) return time;
    const day = dayOfSerial(milliseconds / MS_OF_A_DAY, this.#context.dateSystem);
    if (serial < 0 || day === undefined) return this.#noDay(serial);
    return styled === 'instant' || milliseconds % MS_OF_A_DAY !== 0 ? `${day}T${time}` : day;
  }

  #utc(serial: number): CellValue {
    const milliseconds = Math.round(serial * MS_OF_A_DAY);
    const day = dayOfSerial(milliseconds / MS_OF_A_DAY, this.#context.dateSystem);
    if (day === undefined) return this.#noDay(serial);
    return `${day}T${new Date(milliseconds % MS_OF_A_DAY).toISOString().slice(11)}`;
  }

  #noDay(serial: number): CellValue {
    this.#tell(`shows ${serial} as a day, which is none; write the day as text`);
    return null;
  }

  /** Only the first fault of a row is reported. */
  #tell(detail: string): void {
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
