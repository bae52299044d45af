/**
 * Results that can be taken in two ways: read into objects, or printed, when the database writes the JSON of
 * the whole selection. A resolver gives one and knows nothing of which way it goes.
 */
import type { GraphQLFieldExtensions, GraphQLResolveInfo } from 'graphql';
import type { PrintedJson } from '../../json.js';

export const PRINT = Symbol('print');
export const READ = Symbol('read');

/** What a resolver may give. Nothing has run yet. */
export interface Printable {
  /** The JSON text of what `info` selects of it. */
  [PRINT](info: GraphQLResolveInfo): Promise<PrintedJson>;
  /** The value whose fields are asked for one by one. */
  [READ](): unknown;
}

/** The mark of a root field whose resolver gives a `Printable` and runs nothing by itself. */
export const PRINTABLE_FIELD = { isPrintable: true } as const;

export function isPrintableField(field: {
  readonly extensions: Readonly<GraphQLFieldExtensions<unknown, unknown>>;
}): boolean {
  return field.extensions.isPrintable === true;
}

export function isPrintable(value: unknown): value is Printable {
  return typeof value === 'object' && value !== null && PRINT in value;
}
