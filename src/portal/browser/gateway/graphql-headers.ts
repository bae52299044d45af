/** What a request to `/graphql` says of its body and of the answer it takes. */
export const GRAPHQL_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/graphql-response+json, application/json',
} as const;

/** The headers that say who asks, and in which school. */
export type CallerHeaders = Readonly<Record<string, string>>;

/** Who sends a request, and in which branch; '' for the own school. */
export function callerHeaders(token: string, branch: string): CallerHeaders {
  return { authorization: `Bearer ${token}`, ...(branch !== '' && { 'x-domain': branch }) };
}
