/**
 * Results that a front end can use in two ways: read into objects, or printed, in which case the database
 * writes the JSON of the whole selection. The resolver that returns one does not know which.
 */
import type { GraphQLFieldExtensions, GraphQLResolveInfo } from 'graphql';
import type { PrintedJson } from '../../../base/json/json.js';

export const PRINT = Symbol('print');
export const READ = Symbol('read');

/** A result of a resolver. Nothing has run yet. */
export interface Printable {
  /** The JSON text of the selection of `info`. */
  [PRINT](info: GraphQLResolveInfo): Promise<PrintedJson>;
  /** The value, whose fields are then resolved one by one. */
  [READ](): unknown;
}

/** Marks a root field whose resolver returns a `Printable` and runs nothing itself. */
export const PRINTABLE_FIELD = { isPrintable: true } as const;

export function isPrintableField(field: {
  readonly extensions: Readonly<GraphQLFieldExtensions<unknown, unknown>>;
}): boolean {
  return field.extensions.isPrintable === true;
}

export function isPrintable(value: unknown): value is Printable {
  return typeof value === 'object' && value !== null && PRINT in value;
}
