/**
 * What caches may do with an answer to GET. A field says by `@cacheControl(maxAge: …)` how old its answer may
 * be; read once a document, so that no resolver is wrapped for it.
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
/** The header of an answer that is never to be given a second time. */
export const NO_STORE = 'no-store';
/** A client may keep it, and asks each time whether it is still so. */
const REVALIDATE = 'private, no-cache';

const POLICIES = new WeakMap<OperationDefinitionNode, string>();

/** The `Cache-Control` of the answer of an operation that met no error. */
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
  // Says nothing that could grow old.
  if (name === '__typename') return Number.MAX_SAFE_INTEGER;
  const directives = type.getFields()[name]?.astNode?.directives ?? [];
  const hint = directives.find((directive) => directive.name.value === CACHE_CONTROL_DIRECTIVE.name);
  return hint ? secondsOf(hint) : 0;
}

function secondsOf({ arguments: args = [] }: ConstDirectiveNode): number {
  const value = args.find((argument) => argument.name.value === 'maxAge')?.value;
  return value?.kind === Kind.INT ? Number(value.value) : 0;
}
