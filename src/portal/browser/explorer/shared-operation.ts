/** The operation in the address of the explorer, by which one user shares it with another. */

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
export function addressOfOperation({ query, variables }: SharedOperation): string | undefined {
  const shared = new URLSearchParams({ query, ...(variables.trim() !== '' && { variables }) });
  const address = `${location.origin}/explore#${shared}`;
  return address.length > LONGEST_ADDRESS ? undefined : address;
}

/** Reads the operation of the address and removes it from there. `undefined`: there is none. */
export function takeSharedOperation(): SharedOperation | undefined {
  const shared = new URLSearchParams(location.hash.slice(1));
  const query = shared.get('query');
  if (query === null || location.hash.length > LONGEST_ADDRESS) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  return { query, variables: shared.get('variables') ?? '' };
}
