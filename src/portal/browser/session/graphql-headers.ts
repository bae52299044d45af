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

/**
 * An operation that the build generates from a `.graphql` document: its text, with the types of result and
 * variables.
 */
export interface PortalOperation<Result, Variables> {
  readonly name: string;
  readonly text: string;
  /** Never set: it only carries the types of the result and the variables. */
  readonly types?: { readonly result: Result; readonly variables: Variables };
}

/**
 * The parameter of all addresses that names the branch in which the user works. Absent for the user's own
 * school.
 */
export const BRANCH_PARAMETER = 'branch';

/** The branch in the address of the page; '' for none. */
export function branchInAddress(): string {
  return new URLSearchParams(location.search).get(BRANCH_PARAMETER) ?? '';
}

/**
 * The address of the home page of a branch; '' for the user's own school. It must be loaded anew, so that
 * nothing of the previous school remains on the page.
 */
export function homeOfBranch(id: string): string {
  return id === '' ? '/' : `/?${new URLSearchParams({ [BRANCH_PARAMETER]: id })}`;
}
