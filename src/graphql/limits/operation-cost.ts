/**
 * What an operation may cost: every object it can give counts one, so a page of 100 records with one reference each
 * resolved counts 1 + 100 × 2. Depends on the variables, so it is checked for every request, and remembered for the
 * document and the variables that matter.
 *
 * @see decisions 9
 */
import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { type ComplexityEstimator, getComplexity } from 'graphql-query-complexity';
import { ServiceError } from '../../errors.js';

/** Counting goes through all records that match. */
const COUNT_COST = 10;
const MAX_REMEMBERED_PER_DOCUMENT = 100;

export interface CostLimits {
  readonly maxCost: number;
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
}

interface Remembered {
  readonly variables: readonly string[];
  readonly costs: Map<string, number>;
}

export class OperationCosts {
  readonly #limits: CostLimits;
  readonly #byDocument = new WeakMap<DocumentNode, Remembered>();
  readonly #estimators: ComplexityEstimator[];

  constructor(limits: CostLimits) {
    this.#limits = limits;
    this.#estimators = [(options) => estimate(options, limits)];
  }

  /** @throws LIMIT_EXCEEDED (400); GraphQLError for variables or arguments that are wrong */
  assertAffordable(request: CostRequest): void {
    const cost = this.costOf(request);
    if (cost <= this.#limits.maxCost) return;
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `The operation costs ${cost}; at most ${this.#limits.maxCost} is allowed. Ask for smaller pages (first) or fewer objects within them.`,
    );
  }

  costOf(request: CostRequest): number {
    const remembered = this.#remember(request.document);
    const key = printKey(request, remembered.variables);
    const known = remembered.costs.get(key);
    if (known !== undefined) return known;
    const cost = getComplexity({
      schema: request.schema,
      query: request.document,
      variables: { ...request.variables },
      estimators: this.#estimators,
      ...(request.operation.name && { operationName: request.operation.name.value }),
    });
    if (remembered.costs.size >= MAX_REMEMBERED_PER_DOCUMENT) remembered.costs.clear();
    remembered.costs.set(key, cost);
    return cost;
  }

  #remember(document: DocumentNode): Remembered {
    const known = this.#byDocument.get(document);
    if (known) return known;
    const made = { variables: costlyVariables(document), costs: new Map<string, number>() };
    this.#byDocument.set(document, made);
    return made;
  }
}

export interface CostRequest {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

function estimate(
  { field, args, childComplexity }: Parameters<ComplexityEstimator>[0],
  limits: CostLimits,
): number {
  if (field.name === 'totalCount') return COUNT_COST;
  if (!isCompositeType(getNamedType(field.type))) return 0;
  if (!field.args.some((arg) => arg.name === 'first')) return 1 + childComplexity;
  return 1 + pageSize(args, limits) * Math.max(childComplexity, 1);
}

function pageSize(args: { readonly first?: unknown; readonly last?: unknown }, limits: CostLimits): number {
  const asked = args.first ?? args.last ?? limits.defaultPageSize;
  if (typeof asked !== 'number' || asked < 1) return 1;
  return Math.min(asked, limits.maxPageSize);
}

/** The variables that change a cost: those of page sizes and of `@skip` and `@include`. */
function costlyVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Argument(argument) {
      const isPageSize = argument.name.value === 'first' || argument.name.value === 'last';
      if (isPageSize && argument.value.kind === Kind.VARIABLE) names.add(argument.value.name.value);
    },
    Directive(directive) {
      for (const argument of directive.arguments ?? []) {
        if (argument.value.kind === Kind.VARIABLE) names.add(argument.value.name.value);
      }
    },
  });
  return [...names].sort();
}

function printKey(request: CostRequest, names: readonly string[]): string {
  const operation = request.operation.name?.value ?? '';
  if (names.length === 0) return operation;
  return `${operation} ${JSON.stringify(names.map((name) => request.variables[name] ?? null))}`;
}
