/** Stands for the `_id` of a record to be created, in a statement that is run many times. */
export const FRESH_ID = 'bench-fresh-id';
