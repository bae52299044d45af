/**
 * What an operation may cost: every object it can give counts one, so a page of 100 records with one
 * reference each resolved counts 1 + 100 × 2, each count of all records 10, and each object of the schema 1.
 * Depends on the variables, so it is checked for every request, and remembered for the document and the
 * variables that matter.
 *
 * @see decisions 9
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { type ComplexityEstimator, getComplexity } from 'graphql-query-complexity';
import { ServiceError } from '../../../base/errors.js';
import { introspectionCost, isIntrospectionField } from './introspection-cost.js';

/** Counting goes through all records that match. */
const COUNT_COST = 10;
/** Arguments of fields that give an object for each of their elements. */
const LISTS_OF_NAMES: ReadonlySet<string> = new Set(['ids', 'representations']);
/** Arguments on which depends how much a field gives. */
const SIZE_ARGUMENTS: ReadonlySet<string> = new Set(['first', 'last', ...LISTS_OF_NAMES]);
const MAX_REMEMBERED_PER_OPERATION = 100;

export interface CostLimits {
  readonly maxCost: number;
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
}

/** The costs of one operation. */
export interface CostPlan {
  /** The variables that change its cost. */
  readonly variables: readonly string[];
  /** The costs that have been computed, by the values of these variables. */
  readonly known: Map<string, number>;
}

export function planCosts(document: DocumentNode): CostPlan {
  return { variables: costlyVariables(document), known: new Map() };
}

export class OperationCosts {
  readonly #limits: CostLimits;

  constructor(limits: CostLimits) {
    this.#limits = limits;
  }

  /** Gives the cost. @throws LIMIT_EXCEEDED (400); GraphQLError for variables or arguments that are wrong */
  assertAffordable(request: CostRequest): number {
    const cost = this.costOf(request);
    if (cost <= this.#limits.maxCost) return cost;
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `The operation costs ${cost}; at most ${this.#limits.maxCost} is allowed. Ask for smaller ` +
        'pages (first) or fewer objects within them.',
    );
  }

  /** What a client is told that asks for it. */
  describe(request: CostRequest): { readonly requested: number; readonly limit: number } {
    return { requested: this.costOf(request), limit: this.#limits.maxCost };
  }

  costOf(request: CostRequest): number {
    const { served, document, operation, fragments, costs } = request.prepared;
    const key = printKey(costs.variables, request.variables);
    const known = costs.known.get(key);
    if (known !== undefined) return known;
    const totals = new Totals(fragments);
    const cost = getComplexity({
      schema: served.schema,
      query: document,
      variables: { ...request.variables },
      estimators: [(options) => estimate(options, { served, document, limits: this.#limits, totals })],
      ...(operation.name && { operationName: operation.name.value }),
    });
    if (costs.known.size >= MAX_REMEMBERED_PER_OPERATION) costs.known.clear();
    costs.known.set(key, cost);
    return cost;
  }
}

export interface CostRequest {
  readonly prepared: {
    readonly served: { readonly schema: GraphQLSchema; readonly objects: number };
    readonly document: DocumentNode;
    readonly operation: OperationDefinitionNode;
    readonly fragments: Fragments;
    readonly costs: CostPlan;
  };
  readonly variables: Readonly<Record<string, unknown>>;
}

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

interface Estimating extends Pick<CostRequest['prepared'], 'served' | 'document'> {
  readonly limits: CostLimits;
  readonly totals: Totals;
}

function estimate(
  { field, node, args, childComplexity }: Parameters<ComplexityEstimator>[0],
  { served, document, limits, totals }: Estimating,
): number {
  if (isIntrospectionField(field.name)) {
    return introspectionCost(node, { served, document, args, maxCost: limits.maxCost });
  }
  const type = getNamedType(field.type);
  // There is one of a page, whatever its size.
  if (!isCompositeType(type) || type.name === 'PageInfo') return 0;
  const named = field.args.find((arg) => LISTS_OF_NAMES.has(arg.name));
  if (named) return 1 + lengthOf(args[named.name]) * Math.max(childComplexity, 1);
  if (!field.args.some((arg) => arg.name === 'first')) return 1 + childComplexity;
  const counts = totals.count(node.selectionSet);
  const isOnlyCounted = counts > 0 && childComplexity === 0;
  const records = isOnlyCounted ? 0 : pageSize(args, limits) * Math.max(childComplexity, 1);
  return 1 + records + counts * COUNT_COST;
}

/**
 * Counts within a document; each fragment is looked into once, so nested fragments cost no more than their
 * length.
 */
class Totals {
  readonly #fragments: Fragments;
  readonly #ofFragments = new Map<string, number>();

  constructor(fragments: Fragments) {
    this.#fragments = fragments;
  }

  /** How often a page counts all of its records: once a page, not once a record. Skipped ones count too. */
  count(selectionSet: SelectionSetNode | undefined): number {
    let count = 0;
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === Kind.FIELD) count += selection.name.value === 'totalCount' ? 1 : 0;
      else if (selection.kind === Kind.INLINE_FRAGMENT) count += this.count(selection.selectionSet);
      else count += this.#ofFragment(selection.name.value);
    }
    return count;
  }

  /** Validation has let through no fragment within itself. */
  #ofFragment(name: string): number {
    const known = this.#ofFragments.get(name);
    if (known !== undefined) return known;
    const count = this.count(this.#fragments[name]?.selectionSet);
    this.#ofFragments.set(name, count);
    return count;
  }
}

function pageSize(args: { readonly first?: unknown; readonly last?: unknown }, limits: CostLimits): number {
  const asked = args.first ?? args.last ?? limits.defaultPageSize;
  if (typeof asked !== 'number' || asked < 1) return 1;
  return Math.min(asked, limits.maxPageSize);
}

/** Of one value in place of a list, the list is that value. */
function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 1;
}

/** The variables that change a cost: those of sizes, of lists, and of `@skip` and `@include`. */
function costlyVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Field({ name, arguments: args = [] }) {
      if (!isIntrospectionField(name.value)) return;
      for (const { value } of args) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
    Argument(argument) {
      if (!SIZE_ARGUMENTS.has(argument.name.value)) return;
      visit(argument.value, {
        Variable(variable) {
          names.add(variable.name.value);
        },
      });
    },
    Directive(directive) {
      for (const argument of directive.arguments ?? []) {
        if (argument.value.kind === Kind.VARIABLE) names.add(argument.value.name.value);
      }
    },
  });
  return [...names].sort();
}

function printKey(names: readonly string[], variables: CostRequest['variables']): string {
  if (names.length === 0) return '';
  const values = names.map((name) => variables[name] ?? null);
  // Of a list only the length counts, and it would be a long key.
  const sizes = values.map((value) => (Array.isArray(value) ? [value.length] : value));
  return JSON.stringify(sizes);
}
