/** A cache of parsed and validated documents; callers who send the same one share it. */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';

export interface PreparedDocument {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Total characters of the documents cached for a schema. */
const MAX_LENGTH = 1_000_000;

export class PreparedDocuments {
  readonly #rules: readonly ValidationRule[];
  readonly #maxTokens: number;
  readonly #bySchema = new WeakMap<GraphQLSchema, LRUCache<string, DocumentNode>>();

  constructor(options: { readonly rules: readonly ValidationRule[]; readonly maxTokens: number }) {
    this.#rules = [...specifiedRules, ...options.rules];
    this.#maxTokens = options.maxTokens;
  }

  /** @throws GraphQLError in Apollo Server's words: the document is wrong, or has no such operation */
  prepare(schema: GraphQLSchema, text: string, operationName: string | undefined): PreparedDocument {
    const document = this.#find(schema, text);
    const operation = getOperationAST(document, operationName);
    if (operation) return { schema, document, operation };
    const message =
      operationName === undefined
        ? 'Must provide operation name if query contains multiple operations.'
        : `Unknown operation named "${operationName}".`;
    throw new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } });
  }

  #find(schema: GraphQLSchema, text: string): DocumentNode {
    const documents =
      this.#bySchema.get(schema) ??
      new LRUCache<string, DocumentNode>({
        maxSize: MAX_LENGTH,
        sizeCalculation: (_document, key) => Math.max(1, key.length),
      });
    this.#bySchema.set(schema, documents);
    const known = documents.get(text);
    if (known) return known;
    const document = this.#parse(text);
    const [error] = validate(schema, document, this.#rules, { maxErrors: 1 });
    if (error) throw withCode(error, 'GRAPHQL_VALIDATION_FAILED');
    documents.set(text, document);
    return document;
  }

  #parse(text: string): DocumentNode {
    try {
      return parse(text, { maxTokens: this.#maxTokens });
    } catch (error) {
      throw error instanceof GraphQLError ? withCode(error, 'GRAPHQL_PARSE_FAILED') : error;
    }
  }
}

/** Limits have codes of their own. */
function withCode(error: GraphQLError, code: string): GraphQLError {
  const { message, nodes, source, positions, extensions } = error;
  return new GraphQLError(message, {
    ...(nodes && { nodes }),
    ...(source && { source }),
    ...(positions && { positions }),
    extensions: { code, ...extensions },
  });
}
