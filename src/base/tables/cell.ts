/** A table: typed columns, and lines of cells that are texts. */

/** The type of a value. Money, numbers and `decimal` keep their digits; `json` is JSON text. */
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
  /** The members of the object, or of each object of the list, by their headings; the type is `json`. */
  readonly members?: readonly TableColumn[] | undefined;
}

/** One text for each column, in order; `null` for no value. */
export type TableLine = readonly (string | null)[];
