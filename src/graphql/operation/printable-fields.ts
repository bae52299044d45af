/** The two ways of a root field that gives a `Printable`: graphql-js reads it, the splice prints it. */
import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { isPrintable, isPrintableField, READ } from '../../resolvers/records/printable.js';

/** What the splice hands to a resolver. */
export interface PrintingInfo extends GraphQLResolveInfo {
  readonly isPrinting: true;
}

/** Lets everybody but the splice read what the resolvers of such fields give. */
export function readPrintableFields(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (!resolve || !isPrintableField(field)) continue;
    field.resolve = async (source, args, context, info) => {
      const result: unknown = await resolve(source, args, context, info);
      return isPrintable(result) && !isPrinting(info) ? result[READ]() : result;
    };
  }
  return schema;
}

function isPrinting(info: GraphQLResolveInfo): info is PrintingInfo {
  return 'isPrinting' in info;
}
