/** The two uses of a root field that returns a `Printable`: graphql-js reads it, the splice prints it. */
import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { isPrintable, isPrintableField, READ } from '../../resolvers/records/printable.js';

/** The resolve info with which the splice calls a resolver. */
export interface PrintingInfo extends GraphQLResolveInfo {
  readonly isPrinting: true;
}

/** Makes such fields return the readable value to everybody but the splice. */
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
