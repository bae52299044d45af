import { isExactNumber, type JsonObject, type JsonValue, printExactJson } from '../../../base/json/json.js';

/** A cell as text: a list or an object as JSON, an empty cell as the empty text. */
export function textOfCell(cell: unknown): string {
  return isNestedCell(cell) ? printExactJson(cell) : String(cell ?? '');
}

/** Whether a cell is a list or an object, as in documents. */
export function isNestedCell(cell: unknown): cell is readonly JsonValue[] | JsonObject {
  return typeof cell === 'object' && cell !== null && !isExactNumber(cell);
}
