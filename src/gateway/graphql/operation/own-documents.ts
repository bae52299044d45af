/**
 * Runs documents that come with the gateway for other protocols (agents). They pass the same steps as
 * documents sent to `/graphql`, including rights, costs and errors.
 */
import type { GraphQLSchema } from 'graphql';
import type { GraphqlCaller } from './graphql-request.js';
import { answerOperation, type OperationAnswer, type OperationOptions } from './operation.js';
import type { ReadyOperation } from './operation-request.js';
import type { PreparedDocuments } from './prepared-documents.js';

export interface OwnDocumentsOptions {
  /** The current schema. */
  readonly schema: () => GraphQLSchema;
  readonly documents: PreparedDocuments;
  readonly operations: OperationOptions;
}

export class OwnDocuments {
  readonly #options: OwnDocumentsOptions;

  constructor(options: OwnDocumentsOptions) {
    this.#options = options;
  }

  get schema(): GraphQLSchema {
    return this.#options.schema();
  }

  /** Roles that may introspect; `*`: every signed-in caller. */
  get introspectionRoles(): readonly string[] {
    return this.#options.operations.introspectionRoles;
  }

  /** @throws GraphQLError for a document that the current schema does not allow */
  prepare(text: string): ReadyOperation {
    return this.#options.documents.prepare(this.schema, text, undefined);
  }

  /** Every failure is part of the answer. @throws GraphQLError as `prepare` does */
  async answer(
    text: string,
    { caller, variables }: { readonly caller: GraphqlCaller; readonly variables: Record<string, unknown> },
  ): Promise<OperationAnswer> {
    const request = { ...caller, timing: undefined, includeHeader: undefined };
    const ready = this.prepare(text);
    return await answerOperation(
      { ...request, ...ready, variables, extensions: {} },
      this.#options.operations,
    );
  }
}
