import { isExactNumber, type JsonObject, type JsonValue, printExactJson } from '../../json.js';

/** A cell as text: a list or an object as its JSON, a cell in which nothing stands as the empty text. */
export function textOfCell(cell: unknown): string {
  return isNestedCell(cell) ? printExactJson(cell) : String(cell ?? '');
}

/** Whether a cell holds a list or an object, which documents and Parquet files have. */
export function isNestedCell(cell: unknown): cell is readonly JsonValue[] | JsonObject {
  return typeof cell === 'object' && cell !== null && !isExactNumber(cell);
}
