/** A request to run an operation, and its result. */
import type { DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { GraphqlRequest } from './graphql-request.js';

/** An operation of a document that is valid for this schema. */
export interface ReadyOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface OperationRequest extends ReadyOperation, GraphqlRequest {
  readonly variables: Readonly<Record<string, unknown>>;
  /** The extensions of the request, as they were sent. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface Outcome {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly GraphQLError[];
}
