/** Decides which styles of a workbook show a number as a day or a time. */

/** The meaning of a number with the style. */
export type StyledAs = 'number' | 'day' | 'time' | 'instant' | 'utc';

/** The formats that a workbook need not declare, by number. ECMA-376, part 1, 18.8.30. */
function builtInFormat(id: number): StyledAs {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'day';
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47)) return 'time';
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
  return /^0+$/.test(first) ? first.length : 1;
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
