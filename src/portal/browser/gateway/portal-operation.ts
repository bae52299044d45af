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
