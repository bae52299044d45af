/** The operations of the library as tools. */
import { GraphQLError } from 'graphql';
import { type ExampleOperation, fillVariables } from '../../portal/explore/example-operation.js';
import type { PreparedOperation } from '../graphql/operation/prepared-operation.js';
import type { AgentTool } from './agent-tool.js';
import { describeArguments } from './argument-schema.js';

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
