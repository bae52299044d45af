/**
 * An operation as the build made it of a `.graphql` document: its text, with the types it was checked for.
 */
export interface PortalOperation<Result, Variables> {
  readonly name: string;
  readonly text: string;
  /** Never there: it carries the types of what is answered and of what is asked with. */
  readonly types?: { readonly result: Result; readonly variables: Variables };
}
