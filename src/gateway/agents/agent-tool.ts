/** A query or mutation offered to agents: a document with its description. */
import type { OperationDefinitionNode } from 'graphql';
import type { Scope } from '../../base/model/scope.js';
import type { ArgumentsSchema } from './argument-schema.js';

export interface AgentTool {
  /** Latin letters, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operation: OperationDefinitionNode;
  readonly inputSchema: ArgumentsSchema;
  /** Values that return something on a given day: the variables of the library. */
  readonly examples: (today: string) => Readonly<Record<string, unknown>>;
  /** Converts a caller's arguments to the document and its variables. @throws ServiceError */
  readonly toRequest: (sent: Readonly<Record<string, unknown>>, scope: Scope) => ToolRequest;
}

interface ToolRequest {
  readonly document: string;
  readonly variables: Record<string, unknown>;
}
