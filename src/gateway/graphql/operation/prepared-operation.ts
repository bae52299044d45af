/** An operation of a valid document, with all that is derived from the document and the schema alone. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { LRUCache } from 'lru-cache';
import type { StoredFieldsByType } from '../../../base/model/stored-field.js';
import type { Urgency } from '../../../base/process/urgency.js';
import type { CostPlan } from '../limits/operation-cost.js';
import { type FilterVariable, type Permission, readPermission } from '../limits/permitted.js';
import { cachePolicyOf } from './cache-policy.js';
import { urgencyOfFields } from './operation-urgency.js';
import { planUsedFields, type UsedFieldsPlan } from './used-fields.js';

/** The schema of operations, and all that is kept for it. */
export interface OperationSchema {
  readonly schema: GraphQLSchema;
  /** The stored fields behind the names of the schema. */
  readonly storedFields: StoredFieldsByType;
  /** How many objects an introspection of the whole schema prints. */
  readonly objects: number;
  /** The data of introspections as JSON, by operation name and document. */
  readonly introspections: LRUCache<string, string>;
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
    this.urgency = urgencyOfFields(this.rootFieldNames);
    this.cachePolicy = cachePolicyOf(schema, operation, this.rootFieldNames);
    this.usedFields = planUsedFields(served, document, operation);
  }

  get schema(): GraphQLSchema {
    return this.served.schema;
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
