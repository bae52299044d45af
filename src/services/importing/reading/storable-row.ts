/** Refuses rows with texts that PostgreSQL cannot store: one would end the import without naming its row. */
import { isExactNumber } from '../../../base/json/json.js';
import { findUnstorableText, replaceUnstorable } from '../../../base/model/unstorable-text.js';
import type { SourceRow } from './row-source.js';

/**
 * Returns the row as it is, or with a fault if it contains such a text. The fault names its first column, and
 * the text has U+FFFD in the place of the character, for the list of refused rows.
 */
export function storableRow(row: SourceRow): SourceRow {
  const column = Object.keys(row.values).find(
    (name) => hasUnstorable(name) || hasUnstorable(row.values[name]),
  );
  if (column === undefined && !hasUnstorable(row.source)) return row;
  const faultColumn = replaceUnstorable(column ?? '');
  return {
    ...row,
    ...(row.fault === undefined
      ? { fault: `${faultColumn}: ${FAULT}`, faultColumn }
      : { fault: replaceUnstorable(row.fault) }),
    values: replaced(row.values) as SourceRow['values'],
    ...(row.source && { source: row.source.map(replaceUnstorable) }),
  };
}

const FAULT =
  'a character that cannot be stored stands there (U+0000, or half of a surrogate pair); take it out';

/** Most texts have none of these characters, and this test takes a tenth of the time of the exact one. */
const SUSPECT = /[\0\uD800-\uDFFF]/;

function hasUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return SUSPECT.test(value) && findUnstorableText(value) !== undefined;
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return false;
  if (Array.isArray(value)) return value.some(hasUnstorable);
  return Object.entries(value).some(([name, member]) => hasUnstorable(name) || hasUnstorable(member));
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return replaceUnstorable(value);
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map(replaced);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [replaceUnstorable(name), replaced(member)]),
  );
}
