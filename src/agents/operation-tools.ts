/** The operations of the library as tools. */
import { GraphQLError } from 'graphql';
import { type ExampleOperation, fillVariables } from '../explore/example-operation.js';
import type { ReadyOperation } from '../graphql/operation/operation-request.js';
import type { AgentTool } from './agent-tool.js';
import { describeArguments } from './argument-schema.js';

export interface ToolSources {
  /** @throws GraphQLError for a document that the schema of this moment does not allow */
  readonly prepare: (document: string) => ReadyOperation;
  readonly maxRows: number;
}

/**
 * A tool an operation, named after its file. Subscriptions, which have no end, are none; nor is what the
 * schema of this moment does not allow.
 */
export function createOperationTools(
  library: readonly ExampleOperation[],
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
