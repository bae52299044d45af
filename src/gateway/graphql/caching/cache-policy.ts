/**
 * The caching headers of answers to GET. A field declares the age of its answer by `@cacheControl(maxAge:
 * …)`; the directives are read once per document, so that no resolver must be wrapped.
 */
import {
  type ConstDirectiveNode,
  type GraphQLObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { CACHE_CONTROL_DIRECTIVE } from '../../resolvers/cached-for.js';
import type { ReadyOperation } from '../operation/operation-request.js';
import { rootFieldNames } from '../operation/root-field-names.js';

/** Answers belong to one caller, in one domain, in one media type. */
export const VARY = 'Accept, Accept-Encoding, Authorization, X-Domain';
/** For an answer that must never be reused. */
export const NO_STORE = 'no-store';
/** A client may store it, and revalidates it each time. */
const REVALIDATE = 'private, no-cache';

const POLICIES = new WeakMap<OperationDefinitionNode, string>();

/** The `Cache-Control` of an operation that succeeded. */
export function cachePolicyOf(ready: ReadyOperation): string {
  const known = POLICIES.get(ready.operation);
  if (known !== undefined) return known;
  const maxAge = maxAgeOf(ready);
  const policy = maxAge > 0 ? `private, max-age=${maxAge}` : REVALIDATE;
  POLICIES.set(ready.operation, policy);
  return policy;
}

function maxAgeOf({ schema, document, operation }: ReadyOperation): number {
  const type = schema.getQueryType();
  if (operation.operation !== OperationTypeNode.QUERY || !type) return 0;
  const ages = rootFieldNames({ document, operation }).map((name) => maxAgeOfField(type, name));
  return ages.length === 0 ? 0 : Math.min(...ages);
}

function maxAgeOfField(type: GraphQLObjectType, name: string): number {
  // `__typename` never becomes stale.
  if (name === '__typename') return Number.MAX_SAFE_INTEGER;
  const directives = type.getFields()[name]?.astNode?.directives ?? [];
  const hint = directives.find((directive) => directive.name.value === CACHE_CONTROL_DIRECTIVE.name);
  return hint ? secondsOf(hint) : 0;
}

function secondsOf({ arguments: args = [] }: ConstDirectiveNode): number {
  const value = args.find((argument) => argument.name.value === 'maxAge')?.value;
  return value?.kind === Kind.INT ? Number(value.value) : 0;
}
