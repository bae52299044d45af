/** What a table is made of: columns that say their type, and lines of cells that are texts. */

/**
 * What kind of value the text of a cell is. Money and numbers keep their digits, a `decimal` any number of
 * them; `json` is JSON text.
 */
export type CellType =
  | 'text'
  | 'flag'
  | 'whole'
  | 'number'
  | 'percent'
  | 'money'
  | 'decimal'
  | 'day'
  | 'month'
  | 'instant'
  | 'json';

export interface TableColumn {
  readonly heading: string;
  readonly type: CellType;
  /** Whether a cell is the JSON text of a list of such values. */
  readonly isList: boolean;
}

/** A text for each column, in their order; `null` where there is no value. */
export type TableLine = readonly (string | null)[];
