/** An operation of a valid document, with all data derived only from the document and the schema. */

import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';
import type { LRUCache } from 'lru-cache';
import { tryTo } from '../../../base/errors.js';
import type { StoredFieldsByType } from '../../../base/model/stored-field.js';
import { leastUrgent, type Urgency } from '../../../base/process/urgency.js';
import type { JsonText } from '../../../base/scalars/json-text.js';
import { reports } from '../../../school/reports/registry.js';
import { CACHE_CONTROL_DIRECTIVE } from '../../resolvers/cached-for.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import type { RequestNotes } from '../../resolvers/request-notes.js';
import { scriptOf } from '../../resolvers/script-fields.js';
import type { CostPlan, CostRequest, OperationCosts } from '../limits/operation-cost.js';
import { type FilterVariable, type Permission, readPermission } from '../limits/permitted.js';
import type { OperationTiming } from './operation-timing.js';
import { planUsedFields, type UsedFieldsPlan } from './used-fields.js';

/** A part of the schema, shared by all callers with the same reach. */
export interface ShownSchema {
  readonly key: string;
  readonly schema: GraphQLSchema;
}

/** The schema of operations, and all that is kept for it. */
export interface OperationSchema {
  readonly schema: GraphQLSchema;
  /** The stored fields behind the names of the schema. */
  readonly storedFields: StoredFieldsByType;
  /** How many objects an introspection of the whole schema prints. */
  readonly objects: number;
  /** The data of introspections, by what the caller reaches and the document. */
  readonly introspections: LRUCache<string, Record<string, JsonText>>;
  /** The schema as the caller may know it. @throws UNAUTHENTICATED */
  shownTo(context: RequestContext): ShownSchema;
}

/** Made once for a document and an operation name, and used by HTTP, subscriptions and MCP. */
export class PreparedOperation implements Permission {
  readonly served: OperationSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  /** The root fields, including those in fragments. */
  readonly rootFieldNames: readonly string[];
  readonly isIntrospecting: boolean;
  readonly filterVariables: readonly FilterVariable[];
  readonly costs: CostPlan;
  /** The urgency that the root fields require, whatever the cost. */
  readonly urgency: Urgency;
  /** The `Cache-Control` of an answer without errors to GET. */
  readonly cachePolicy: string;
  readonly usedFields: UsedFieldsPlan;

  /** The document is valid under the schema. */
  constructor(served: OperationSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    const { schema } = served;
    this.served = served;
    this.document = document;
    this.operation = operation;
    this.fragments = fragmentsOf(document);
    this.rootFieldNames = [...fieldNames(operation.selectionSet, this.fragments)];
    const { isIntrospecting, filterVariables, costs } = readPermission(document);
    this.isIntrospecting = isIntrospecting;
    this.filterVariables = filterVariables;
    this.costs = costs;
    // A report is recognized by its name.
    const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
    const urgencyOf = (name: string) =>
      scriptOf(fields[name]) ? 'script' : (KIND_BY_ROOT_FIELD.get(name) ?? 'short');
    this.urgency = leastUrgent(this.rootFieldNames.map(urgencyOf));
    this.cachePolicy = cachePolicyOf(schema, operation, this.rootFieldNames);
    this.usedFields = planUsedFields(served, document, operation);
  }

  get schema(): GraphQLSchema {
    return this.served.schema;
  }

  /**
   * The operation with some of its root fields only, for a schema that may lack types of its other variables.
   */
  part(selections: readonly FieldNode[], schema = this.schema) {
    const { variableDefinitions = [] } = this.operation;
    const operation: OperationDefinitionNode = {
      ...this.operation,
      variableDefinitions: variableDefinitions.filter(({ type }) => typeFromAST(schema, type)),
      selectionSet: { kind: Kind.SELECTION_SET, selections },
    };
    const definitions = [operation, ...Object.values(this.fragments)];
    return { schema, document: { kind: Kind.DOCUMENT, definitions } as const };
  }
}

export function fragmentsOf(document: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}

/**
 * The fields of a selection and of its fragments. Visits each selection once, so that nested fragments take
 * no longer than the document is long, and cycles of fragments, which validation refuses later, end.
 */
export function fieldNames(
  root: SelectionSetNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): ReadonlySet<string> {
  const names = new Set<string>();
  // The set grows while it is read.
  const selectionSets = new Set([root]);
  for (const { selections } of selectionSets) {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) names.add(selection.name.value);
      else {
        const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
        if (inner) selectionSets.add(inner.selectionSet);
      }
    }
  }
  return names;
}

/** Answers belong to one caller, in one domain, in one media type. */
export const VARY = 'Accept, Accept-Encoding, Authorization, X-Domain';
/** For an answer that must never be reused. */
export const NO_STORE = 'no-store';
/** A client may store it, and revalidates it each time. */
const REVALIDATE = 'private, no-cache';

/** The `Cache-Control` of an operation that succeeded. */
function cachePolicyOf(
  schema: GraphQLSchema,
  { operation }: OperationDefinitionNode,
  rootFieldNames: readonly string[],
): string {
  const type = schema.getQueryType();
  if (operation !== OperationTypeNode.QUERY || !type) return REVALIDATE;
  const maxAge = Math.min(...rootFieldNames.map((name) => maxAgeOfField(type, name)));
  return maxAge > 0 ? `private, max-age=${maxAge}` : REVALIDATE;
}

function maxAgeOfField(type: GraphQLObjectType, name: string): number {
  // `__typename` never becomes stale.
  if (name === '__typename') return Number.MAX_SAFE_INTEGER;
  const script = scriptOf(type.getFields()[name]);
  if (script) return script.field.maxAgeSeconds;
  const directives = type.getFields()[name]?.astNode?.directives ?? [];
  const hint = directives.find((directive) => directive.name.value === CACHE_CONTROL_DIRECTIVE.name);
  const value = hint?.arguments?.find((argument) => argument.name.value === 'maxAge')?.value;
  return value?.kind === Kind.INT ? Number(value.value) : 0;
}

/** An operation that may return more objects has the urgency of a long REST list. */
const MOST_OF_SHORT = 1_000;
const KIND_BY_ROOT_FIELD: ReadonlyMap<string, Urgency> = new Map([
  ...reports.map(({ field }) => [field, 'stream'] as const),
  ['runScript', 'script'],
]);

/** The urgency of an operation: a long list is recognized by its cost. */
export function operationUrgency(
  request: CostRequest & { readonly prepared: { readonly urgency: Urgency } },
  costs: Pick<OperationCosts, 'costOf'>,
): Urgency {
  const { urgency } = request.prepared;
  if (urgency !== 'short') return urgency;
  // If its variables are wrong, it will be refused as soon as it is admitted.
  return (tryTo(() => costs.costOf(request)) ?? 0) > MOST_OF_SHORT ? 'stream' : 'short';
}

/** The caller, as the front end knows it from the HTTP request. */
export interface GraphqlCaller {
  /** The context for resolvers. */
  readonly context: RequestContext;
  readonly notes: RequestNotes;
}

/** A GraphQL request without its documents. A plain object, because Apollo copies it. */
export interface GraphqlRequest extends GraphqlCaller {
  /** `undefined`: timing is not requested. */
  readonly timing: OperationTiming | undefined;
  /** The header `X-Include-Extensions`: the extensions that a client requests. */
  readonly includeHeader: string | undefined;
}

export interface OperationRequest extends GraphqlRequest {
  readonly prepared: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The extensions of the request, as they were sent. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface Outcome {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly GraphQLError[];
}
