/** A query or mutation offered to agents, and those of the library. */
import { GraphQLError, type OperationDefinitionNode } from 'graphql';
import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { type ExampleOperation, fillVariables } from '../../portal/explore/example-operation.js';
import { formatGraphqlError } from '../graphql/operation/graphql-errors.js';
import type { GraphqlCaller, PreparedOperation } from '../graphql/operation/prepared-operation.js';
import {
  type AnswerSchema,
  type ArgumentsSchema,
  describeArguments,
  describeData,
} from '../resolvers/argument-schema.js';

export interface AgentTool {
  /** Latin letters, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operation: OperationDefinitionNode;
  readonly inputSchema: ArgumentsSchema;
  readonly outputSchema: AnswerSchema;
  /** Values that return something on a given day: the variables of the library. */
  readonly examples: (today: string) => Readonly<Record<string, unknown>>;
  /** Converts a caller's arguments to the document and its variables. @throws ServiceError */
  readonly toRequest: (
    sent: Readonly<Record<string, unknown>>,
    scope: Scope,
  ) => { readonly document: string; readonly variables: Record<string, unknown> };
}

export interface ToolSources {
  /** @throws GraphQLError for a document that the present schema does not allow */
  readonly prepare: (document: string) => PreparedOperation;
  readonly maxRows: number;
}

/**
 * One tool per operation, named after its file. Subscriptions, which never end, and operations that the
 * present schema does not allow are left out.
 */
export function createOperationTools(
  library: readonly Omit<ExampleOperation, 'topic' | 'roles' | 'also'>[],
  { prepare, maxRows }: ToolSources,
): readonly AgentTool[] {
  return library.flatMap((example) => {
    if (example.kind === 'subscription') return [];
    const ready = tryTo(() => prepare(example.document));
    if (ready === undefined) return [];
    return [
      {
        name: example.name,
        title: example.title,
        description: example.description,
        operation: ready.operation,
        inputSchema: describeArguments(ready, maxRows),
        outputSchema: describeData(ready),
        examples: (today) => fillVariables(example.variables, today),
        toRequest: (sent) => ({ document: example.document, variables: { ...sent } }),
      },
    ];
  });
}

function tryTo<Result>(prepare: () => Result): Result | undefined {
  try {
    return prepare();
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}

/**
 * Notes an error for the log, and returns it as GraphQL prints it, with the id of the request. One that is
 * not in the catalog is masked, and passed to `onFault`.
 */
export function noteFault(
  error: unknown,
  { context: { requestId }, notes }: GraphqlCaller,
  onFault: (error: unknown, requestId: string) => void,
): { readonly message: string; readonly extensions: Record<string, unknown> } {
  const original = error instanceof Error ? error : new Error(String(error));
  const graphql = new GraphQLError(original.message, { originalError: original });
  // An operation's error is formatted already.
  const { message, extensions } =
    error instanceof GraphQLError ? error.toJSON() : formatGraphqlError(graphql.toJSON(), graphql);
  if (error instanceof ServiceError) notes.errorCode = error.code;
  if (extensions?.code === 'INTERNAL') {
    notes.errorCode = 'INTERNAL';
    onFault(error, requestId);
  }
  return { message, extensions: { ...extensions, requestId } };
}
