/**
 * Runs documents that come with the gateway for other protocols (agents). They pass the same steps as
 * documents sent to `/graphql`, including rights, costs and errors.
 */
import type { GraphQLSchema } from 'graphql';
import { answerOperation, type OperationAnswer, type OperationOptions } from './operation.js';
import type { GraphqlCaller, PreparedOperation } from './prepared-operation.js';
import type { ServedSchema } from './served-schema.js';

export class OwnDocuments {
  readonly #served: () => ServedSchema;
  readonly #operations: OperationOptions;

  /** `served` gives the current schema. */
  constructor(served: () => ServedSchema, operations: OperationOptions) {
    this.#served = served;
    this.#operations = operations;
  }

  get schema(): GraphQLSchema {
    return this.#served().schema;
  }

  /** Roles that may introspect; `*`: every signed-in caller. */
  get introspectionRoles(): readonly string[] {
    return this.#operations.introspectionRoles;
  }

  /** @throws GraphQLError for a document that the current schema does not allow */
  prepare(text: string): PreparedOperation {
    return this.#served().prepare(text, undefined);
  }

  /** Every failure is part of the answer. @throws GraphQLError as `prepare` does */
  async answer(
    text: string,
    { caller, variables }: { readonly caller: GraphqlCaller; readonly variables: Record<string, unknown> },
  ): Promise<OperationAnswer> {
    const prepared = this.prepare(text);
    const request = { ...caller, timing: undefined, includeHeader: undefined, prepared, variables };
    return await answerOperation({ ...request, extensions: {} }, this.#operations);
  }
}
