/** A question, or a change, that an agent may ask for: a document with what is said of it. */
import type { OperationDefinitionNode } from 'graphql';
import type { Scope } from '../model/scope.js';
import type { ArgumentsSchema } from './argument-schema.js';

export interface AgentTool {
  /** Latin letters, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operation: OperationDefinitionNode;
  readonly inputSchema: ArgumentsSchema;
  /** Values that show something, as of a day: the variables of the library. */
  readonly examples: (today: string) => Readonly<Record<string, unknown>>;
  /** The document and its variables that the arguments of a caller come to. @throws ServiceError */
  readonly toRequest: (sent: Readonly<Record<string, unknown>>, scope: Scope) => ToolRequest;
}

interface ToolRequest {
  readonly document: string;
  readonly variables: Record<string, unknown>;
}
