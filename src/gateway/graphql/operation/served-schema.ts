/** A schema with all that is kept for it: its prepared operations and the answers of introspection. */

import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { StoredField, StoredFieldsByType } from '../../../base/model/stored-field.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import type { JsonText } from '../../../base/scalars/json-text.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import {
  type CallerReach,
  fieldsFor,
  type NeededRights,
  reaches,
} from '../../resolvers/services/caller-reach.js';
import { objectsOfSchema } from '../limits/introspection-cost.js';
import type { OperationTiming } from './operation-timing.js';
import { type IsShown, partOfSchema } from './part-of-schema.js';
import { type OperationSchema, PreparedOperation, type ShownSchema } from './prepared-operation.js';

/** Characters of the documents that are kept. */
const MAX_DOCUMENTS_LENGTH = 4_000_000;
/** Characters of the answers of introspection that are kept: those of the documents that tools send. */
const MAX_INTROSPECTIONS_LENGTH = 16_000_000;
/** A part of the schema takes some megabytes; callers with the same rights share one. */
const MAX_SHOWN = 8;
/** The same number as graphql-js reports. */
const MAX_ERRORS = 100;

export interface ServedSchemaOptions extends Pick<OperationSchema, 'schema' | 'storedFields'> {
  /** The validation rules in addition to those of the specification. */
  readonly rules: readonly ValidationRule[];
  readonly maxTokens: number;
  readonly needed: NeededRights;
  /** The fields and types in a caller's reach. @throws UNAUTHENTICATED */
  readonly reachOf: (context: RequestContext) => CallerReach;
}

export class ServedSchema implements OperationSchema {
  readonly schema: GraphQLSchema;
  readonly storedFields: StoredFieldsByType;
  readonly needed: NeededRights;
  readonly introspections = new LRUCache<string, Record<string, JsonText>>({
    maxSize: MAX_INTROSPECTIONS_LENGTH,
    sizeCalculation: (data) => Object.values(data).reduce((length, { text }) => length + text.length, 0),
  });
  readonly #rules: readonly ValidationRule[];
  readonly #operations = new LRUCache<string, PreparedOperation>({
    maxSize: MAX_DOCUMENTS_LENGTH,
    sizeCalculation: (_prepared, key) => key.length,
  });
  readonly #options: ServedSchemaOptions;
  readonly #shown = new LRUCache<string, GraphQLSchema>({ max: MAX_SHOWN });
  /** The collections that the schema has types of. */
  readonly #collections: ReadonlySet<string>;
  #objects: number | undefined;

  constructor(options: ServedSchemaOptions) {
    this.schema = options.schema;
    this.storedFields = options.storedFields;
    this.#rules = [...specifiedRules, ...options.rules];
    this.needed = options.needed;
    this.#options = options;
    const stored = [...options.storedFields.values()].flatMap((members) => [...members.values()].flat());
    this.#collections = new Set(stored.map(({ collection }) => collection));
  }

  get objects(): number {
    this.#objects ??= objectsOfSchema(this.schema);
    return this.#objects;
  }

  shownTo(context: RequestContext): ShownSchema {
    const reach = this.#options.reachOf(context);
    if (this.#isWhole(reach)) return { key: '', schema: this.schema };
    const { key } = reach;
    const find = () =>
      getOrMake<string, GraphQLSchema>(this.#shown, key, () =>
        partOfSchema(this.schema, isShownTo(reach, this.#options)),
      );
    return {
      key,
      get schema() {
        return find();
      },
    };
  }

  /** Admins of the top domain register collections, and their tools read the schema of all of them. */
  #isWhole({ services, collections }: CallerReach): boolean {
    if (!services.has('topAdministration')) return false;
    const reached = new Set(collections.map(({ collection }) => collection.name));
    return [...this.#collections].every((name) => reached.has(name));
  }

  /** `undefined`: the document has not been prepared yet, or not for long. */
  find(text: string, operationName: string | undefined): PreparedOperation | undefined {
    return this.#operations.get(keyOf(text, operationName));
  }

  /** `undefined` for a text with syntax errors. */
  documentOf(text: string, operationName: string | undefined): DocumentNode | undefined {
    const document = this.find(text, operationName)?.document ?? this.#parse(text);
    return document instanceof GraphQLError ? undefined : document;
  }

  /** @throws GraphQLError, the first of several: the document is wrong, or has no such operation */
  prepare(text: string, operationName: string | undefined): PreparedOperation {
    const prepared = this.tryToPrepare(text, operationName);
    if (prepared instanceof PreparedOperation) return prepared;
    throw prepared[0];
  }

  /** The operation, or the errors of its document. */
  tryToPrepare(
    text: string,
    operationName: string | undefined,
    timing?: OperationTiming,
  ): PreparedOperation | readonly [GraphQLError, ...GraphQLError[]] {
    const known = this.find(text, operationName);
    if (known) return known;
    const parsed = timing?.start('parse');
    const document = this.#parse(text);
    parsed?.();
    if (document instanceof GraphQLError) return [document];
    const validated = timing?.start('validate');
    const [error, ...others] = validate(this.schema, document, this.#rules, { maxErrors: MAX_ERRORS });
    validated?.();
    if (error) {
      const code = 'GRAPHQL_VALIDATION_FAILED';
      return [withCode(error, code), ...others.map((other) => withCode(other, code))];
    }
    const operation = getOperationAST(document, operationName);
    if (!operation) return [withoutOperation(document, operationName)];
    const prepared = new PreparedOperation(this, document, operation);
    this.#operations.set(keyOf(text, operationName), prepared);
    return prepared;
  }

  #parse(text: string): DocumentNode | GraphQLError {
    try {
      return parse(text, { maxTokens: this.#options.maxTokens });
    } catch (error) {
      // Values of a thousand levels exceed the stack.
      const tooDeep = 'The document is nested too deeply to be read.';
      const known = error instanceof GraphQLError ? error : new GraphQLError(tooDeep);
      return withCode(known, 'GRAPHQL_PARSE_FAILED');
    }
  }
}

function isShownTo(
  reach: CallerReach,
  { schema, storedFields, needed }: Pick<ServedSchemaOptions, 'schema' | 'storedFields' | 'needed'>,
): IsShown {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const rootNames = new Set(roots.map((type) => type?.name));
  const reached = new Map(
    reach.collections.map((one) => {
      const namesFor = (verb: 'read' | 'create' | 'update') =>
        new Set(fieldsFor(one, verb)?.map(({ name }) => name));
      const names = { read: namesFor('read'), create: namesFor('create'), update: namesFor('update') };
      return [one.collection.name, names] as const;
    }),
  );
  return (type, member) => {
    if (member === undefined) return reaches(reach, needed.get(type));
    const stored = storedFields.get(type)?.get(member) ?? NONE;
    return (
      reaches(reach, needed.get(rootNames.has(type) ? member : `${type}.${member}`)) &&
      stored.every(({ collection, field, verb }) => reached.get(collection)?.[verb ?? 'read'].has(field))
    );
  };
}

const NONE: readonly StoredField[] = [];

/** No valid document begins with a digit, so two different pairs cannot have the same key. */
function keyOf(text: string, operationName: string | undefined): string {
  return operationName === undefined ? text : `${operationName.length}:${operationName}${text}`;
}

/** Our own rules have codes of their own. `http` is the HTTP status, in Apollo's form. */
function withCode(error: GraphQLError, code: string): GraphQLError {
  const { message, nodes, source, positions, extensions } = error;
  return new GraphQLError(message, {
    ...(nodes && { nodes }),
    ...(source && { source }),
    ...(positions && { positions }),
    extensions: { code, http: { status: 400 }, ...extensions },
  });
}

/** In the words of graphql-js. */
function withoutOperation(document: DocumentNode, operationName: string | undefined): GraphQLError {
  const isThere = document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  const several = isThere
    ? 'Must provide operation name if query contains multiple operations.'
    : 'Must provide an operation.';
  const message = operationName === undefined ? several : `Unknown operation named "${operationName}".`;
  return withCode(new GraphQLError(message), 'OPERATION_RESOLUTION_FAILURE');
}
