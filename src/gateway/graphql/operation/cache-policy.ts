/**
 * The caching headers of answers to GET. A field declares the age of its answer by `@cacheControl(maxAge:
 * …)`; the directives are read once per document, so that no resolver must be wrapped.
 */
import {
  type ConstDirectiveNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { CACHE_CONTROL_DIRECTIVE } from '../../resolvers/cached-for.js';

/** Answers belong to one caller, in one domain, in one media type. */
export const VARY = 'Accept, Accept-Encoding, Authorization, X-Domain';
/** For an answer that must never be reused. */
export const NO_STORE = 'no-store';
/** A client may store it, and revalidates it each time. */
const REVALIDATE = 'private, no-cache';

/** The `Cache-Control` of an operation that succeeded. */
export function cachePolicyOf(
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
  const directives = type.getFields()[name]?.astNode?.directives ?? [];
  const hint = directives.find((directive) => directive.name.value === CACHE_CONTROL_DIRECTIVE.name);
  return hint ? secondsOf(hint) : 0;
}

function secondsOf({ arguments: args = [] }: ConstDirectiveNode): number {
  const value = args.find((argument) => argument.name.value === 'maxAge')?.value;
  return value?.kind === Kind.INT ? Number(value.value) : 0;
}
