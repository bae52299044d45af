/** The steps from a record to a value, e.g. `['lines', 'fee_head']`. */
export type Path = readonly string[];
