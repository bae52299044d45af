/** An operation in an address, which one user shares with another or makes a tile of. Needs no browser. */

export interface SharedOperation {
  readonly query: string;
  /** JSON; '' for none. */
  readonly variables: string;
}

/** Chat programs and mail cut longer addresses. */
const LONGEST_ADDRESS = 8_000;

/**
 * The address that opens the operation, after `#`, which browsers do not send to the server. `undefined` if
 * it would be too long.
 */
export function addressOfOperation(operation: SharedOperation, origin: string): string | undefined {
  const address = `${origin}/explore#${hashOfOperation(operation)}`;
  return address.length > LONGEST_ADDRESS ? undefined : address;
}

export function hashOfOperation({ query, variables }: SharedOperation): string {
  return new URLSearchParams({ query, ...(variables.trim() !== '' && { variables }) }).toString();
}

/** The operation after the `#` of an address; `undefined` if there is none. */
export function operationOfHash(hash: string): SharedOperation | undefined {
  const shared = new URLSearchParams(hash.slice(1));
  const query = shared.get('query');
  return query === null ? undefined : { query, variables: shared.get('variables') ?? '' };
}

/** Variables as the text of an editor; '' for none. */
export function printVariables(variables: Readonly<Record<string, unknown>>): string {
  return Object.keys(variables).length > 0 ? JSON.stringify(variables, null, 2) : '';
}
