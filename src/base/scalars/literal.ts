import { GraphQLError, type ValueNode } from 'graphql';

/** Reads a literal. Its errors have the position in the document. */
export function readLiteral<Read>(node: ValueNode, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GraphQLError) || error.nodes !== undefined) throw error;
    throw new GraphQLError(error.message, { nodes: node, originalError: error });
  }
}
