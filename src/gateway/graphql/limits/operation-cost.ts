/**
 * The cost of an operation: every object that it can return counts one, so a page of 100 records with one
 * resolved reference each counts 1 + 100 × 2, each count of all records 10, and each object of the schema 1.
 * A field that scans a collection, because no index fits its filter, counts one more for every hundred
 * records. The cost depends on the variables, so it is checked for every request, and cached by the document
 * and the relevant variables.
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
} from 'graphql';
import { type ComplexityEstimator, getComplexity } from 'graphql-query-complexity';
import { ServiceError } from '../../../base/errors.js';
import type { RecordQuery } from '../../../base/model/record-query.js';
import type { Scope } from '../../../base/model/scope.js';
import type { RecordsRequest, ScanningField } from '../../resolvers/records/record-resolver.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { scriptOf } from '../../resolvers/script-fields.js';
import { introspectionCost, isIntrospectionField } from './introspection-cost.js';

/** Counting goes through all records that match. */
const COUNT_COST = 10;
/** Arguments of fields that give an object for each of their elements. */
const LISTS_OF_NAMES: ReadonlySet<string> = new Set(['ids', 'representations']);
/** Arguments on which depends how much a field gives, or goes through; of `where` only the form counts. */
export const COSTLY_ARGUMENTS: ReadonlySet<string> = new Set([
  ...['first', 'last', 'limit', 'collection', 'oquery', 'ci', 'orderBy'],
  ...LISTS_OF_NAMES,
]);
const MAX_REMEMBERED_PER_OPERATION = 100;
/** A scan of this many records costs as much as an object. */
const ROWS_OF_OBJECT = 100;
/** The most that a field costs for the records that it goes through, as a part of the limit. */
const PART_OF_SCAN = 1 / 10;
/** Shorter texts are not found by an index of trigrams. */
const LONG_TEXT = 3;

/** How many records a field goes through. */
interface ScanEstimates {
  /** `undefined` for a request that is wrong. */
  toScannedQuery(request: RecordsRequest): RecordQuery | undefined;
  scannedRows(scope: Scope, query: RecordQuery, extent: Extent): number;
}

/** `page`: the read ends once it has the records of a page. `all`: it goes through all that match. */
type Extent = 'page' | 'all';

interface Scan {
  readonly query: RecordQuery;
  readonly extent: Extent;
}

export interface CostLimits {
  readonly scans: ScanEstimates;
  readonly maxCost: number;
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
}

/** The costs of one operation. */
export interface CostPlan {
  readonly variables: CostlyVariables;
  /** The costs that have been computed, by the values or forms of these variables. */
  readonly known: Map<string, Cost>;
}

interface Cost {
  readonly objects: number;
  /** The cost of a scan depends on the caller and the number of records. */
  readonly scans: readonly Scan[];
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
      `The operation costs ${cost}; at most ${this.#limits.maxCost} is allowed. Request smaller ` +
        'pages (first), fewer objects within them, or filters by fields that have an index.',
    );
  }

  /** The cost and its limit, for clients that request them. */
  describe(request: CostRequest): { readonly requested: number; readonly limit: number } {
    return { requested: this.costOf(request), limit: this.#limits.maxCost };
  }

  costOf(request: CostRequest): number {
    const { objects, scans } = this.#costOf(request);
    const { scope } = request.context;
    if (scope === undefined || scans.length === 0) return objects;
    const { maxCost, scans: estimates } = this.#limits;
    const most = Math.floor(maxCost * PART_OF_SCAN);
    return scans.reduce((total, { query, extent }) => {
      const rows = estimates.scannedRows(scope, query, extent);
      return total + Math.min(most, Math.ceil(rows / ROWS_OF_OBJECT));
    }, objects);
  }

  #costOf(request: CostRequest): Cost {
    const { served, document, operation, fragments, costs } = request.prepared;
    const key = printKey(costs.variables, request.variables);
    const known = costs.known.get(key);
    if (known !== undefined) return known;
    const limits = this.#limits;
    const totals = createTotals(fragments);
    const scans: Scan[] = [];
    const objects = getComplexity({
      schema: served.schema,
      query: document,
      variables: { ...request.variables },
      estimators: [
        (options) => {
          scans.push(...scansOf(options, limits.scans, totals));
          return estimate(options, { served, document, limits, totals });
        },
      ],
      ...(operation.name && { operationName: operation.name.value }),
    });
    const cost = { objects, scans };
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
  readonly context: Pick<RequestContext, 'scope'>;
}

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

interface Estimating extends Pick<CostRequest['prepared'], 'served' | 'document'> {
  readonly limits: CostLimits;
  readonly totals: CountTotals;
}

function estimate(
  { field, node, args, childComplexity }: Parameters<ComplexityEstimator>[0],
  { served, document, limits, totals }: Estimating,
): number {
  if (isIntrospectionField(field.name)) {
    return introspectionCost(node, { served, document, args, maxCost: limits.maxCost });
  }
  const script = scriptOf(field);
  if (script) return script.field.cost;
  const type = getNamedType(field.type);
  // There is one of a page, whatever its size.
  if (!isCompositeType(type) || type.name === 'PageInfo') return 0;
  const named = field.args.find((arg) => LISTS_OF_NAMES.has(arg.name));
  if (named) return 1 + lengthOf(args[named.name]) * Math.max(childComplexity, 1);
  if (!field.args.some((arg) => arg.name === 'first')) return 1 + childComplexity;
  const counts = totals(node.selectionSet);
  const isOnlyCounted = counts > 0 && childComplexity === 0;
  const records = isOnlyCounted ? 0 : pageSize(args, limits) * Math.max(childComplexity, 1);
  return 1 + records + counts * COUNT_COST;
}

/** The scans of a field, if its resolver declares how its arguments select records. */
function scansOf(
  { field, node, args }: Parameters<ComplexityEstimator>[0],
  estimates: Pick<ScanEstimates, 'toScannedQuery'>,
  totals: CountTotals,
): readonly Scan[] {
  const { scanned } = field.extensions as Partial<ScanningField<typeof args>>;
  const request = scanned?.(args);
  const query = request && estimates.toScannedQuery(request);
  if (request === undefined || query === undefined) return [];
  const isPage = field.args.some(({ name }) => name === 'after') && totals(node.selectionSet) === 0;
  return [{ query, extent: isPage || request.limit !== undefined ? 'page' : 'all' }];
}

type CountTotals = (selectionSet: SelectionSetNode | undefined) => number;

/**
 * Counts how often a page counts all of its records: once a page, not once a record. Skipped ones count too.
 * Each fragment is looked into once, so nested fragments cost no more than their length; validation has let
 * through no fragment within itself.
 */
function createTotals(fragments: Fragments): CountTotals {
  const known = new Map<string, number>();
  const count: CountTotals = (selectionSet) =>
    (selectionSet?.selections ?? []).reduce((sum, one) => {
      if (one.kind === Kind.FIELD) return sum + (one.name.value === 'totalCount' ? 1 : 0);
      if (one.kind === Kind.INLINE_FRAGMENT) return sum + count(one.selectionSet);
      const name = one.name.value;
      const inFragment = known.get(name) ?? count(fragments[name]?.selectionSet);
      known.set(name, inFragment);
      return sum + inFragment;
    }, 0);
  return count;
}

function pageSize(args: { readonly first?: unknown; readonly last?: unknown }, limits: CostLimits): number {
  const requested = args.first ?? args.last ?? limits.defaultPageSize;
  if (typeof requested !== 'number' || requested < 1) return 1;
  return Math.min(requested, limits.maxPageSize);
}

/** A single value is coerced to a list of one. */
function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 1;
}

interface CostlyVariables {
  /** Variables whose values matter: in `COSTLY_ARGUMENTS`, `@skip` and `@include`. */
  readonly values: readonly string[];
  /** Variables whose form matters: in `where`. */
  readonly forms: readonly string[];
}

function printKey({ values, forms }: CostlyVariables, variables: CostRequest['variables']): string {
  if (values.length + forms.length === 0) return '';
  // Only the length of a list counts, and its text would be a long key; an order is short.
  const sizes = values.map((one) => variables[one] ?? null).map(sizeOf);
  return JSON.stringify([sizes, forms.map((one) => formOf(variables[one]))]);
}

function sizeOf(value: unknown): unknown {
  return Array.isArray(value) && typeof value[0] !== 'object' ? [value.length] : value;
}

/** Operands of the same form are found in the same way, whatever they are. */
function formOf(value: unknown): unknown {
  if (typeof value === 'string') return value.length < LONG_TEXT ? '' : LONG_TEXT;
  if (typeof value === 'number') return 0;
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (!Array.isArray(value)) return Object.entries(value).map(([name, inner]) => [name, formOf(inner)]);
  return typeof value[0] === 'object' ? value.map(formOf) : value.slice(0, 1).map(formOf);
}
