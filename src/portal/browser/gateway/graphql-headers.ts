/** The headers of a request to `/graphql` for its body and the accepted answers. */
export const GRAPHQL_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/graphql-response+json, application/json',
} as const;

/** The headers for the credential of the caller and the school. */
export type CallerHeaders = Readonly<Record<string, string>>;

/** The headers of a caller who works in a branch; '' for the caller's own school. */
export function callerHeaders(token: string, branch: string): CallerHeaders {
  return { authorization: `Bearer ${token}`, ...(branch !== '' && { 'x-domain': branch }) };
}
