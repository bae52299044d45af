/**
 * Root fields of queries that print their answers: the database writes the JSON of the whole selection, and
 * the splice (graphql/operation/splice.ts) inserts it into the answer.
 */
import type { GraphQLFieldExtensions } from 'graphql';
import type { PrintedJson } from '../../../base/json/json.js';

/** The result of the resolver of such a field: gives the JSON text of the selection. Nothing has run yet. */
export type Print = () => Promise<PrintedJson>;

/** Marks a field whose resolver returns a `Print` and runs nothing itself. */
export const PRINTABLE_FIELD = { isPrintable: true } as const;

export function isPrintableField(field: {
  readonly extensions: Readonly<GraphQLFieldExtensions<unknown, unknown>>;
}): boolean {
  return field.extensions.isPrintable === true;
}
