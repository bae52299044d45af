/** Documents that are parsed and valid: those who send the same one share the reading of it. */
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

/** Characters of the documents that are kept for a schema. */
const MAX_LENGTH = 1_000_000;

export class PreparedDocuments {
  readonly #rules: readonly ValidationRule[];
  readonly #maxTokens: number;
  readonly #bySchema = new WeakMap<GraphQLSchema, LRUCache<string, DocumentNode>>();

  constructor(options: { readonly rules: readonly ValidationRule[]; readonly maxTokens: number }) {
    this.#rules = [...specifiedRules, ...options.rules];
    this.#maxTokens = options.maxTokens;
  }

  /**
   * @throws GraphQLError as Apollo Server words it: what is wrong with the document, or that it has no such
   * operation
   */
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

/** A limit has a code of its own. */
function withCode(error: GraphQLError, code: string): GraphQLError {
  const { message, nodes, source, positions, extensions } = error;
  return new GraphQLError(message, {
    ...(nodes && { nodes }),
    ...(source && { source }),
    ...(positions && { positions }),
    extensions: { code, ...extensions },
  });
}
