/**
 * A result that can print itself: the database writes the JSON of the whole selection and nothing of it is
 * read into objects. @see splice.ts
 */
import type { GraphQLFieldExtensions, GraphQLResolveInfo } from 'graphql';

export const PRINT = Symbol('print');

/**
 * What a resolver may give. Nothing has run yet: graphql-js asks it for its fields, the splice for its text.
 */
export interface Printable {
  /** The JSON text of what `info` selects of it. */
  [PRINT](info: GraphQLResolveInfo): Promise<string>;
}

/** The info of a field that is to be printed, not executed. */
export interface PrintingInfo extends GraphQLResolveInfo {
  readonly isPrinting: true;
}

/**
 * True when the resolver's result is wanted as a `Printable`, false when graphql-js wants the value itself.
 */
export function isPrinting(info: GraphQLResolveInfo): info is PrintingInfo {
  return 'isPrinting' in info;
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
