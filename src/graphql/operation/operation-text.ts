/** What of a request says which operation to run: the members of a POST, the parameters of a GET. */

/** A request to `/graphql` as far as GraphQL is concerned. */
export interface Incoming {
  readonly method: string;
  readonly body: unknown;
  /** The part of the address from the question mark on; empty without one. */
  readonly search: string;
}

export type Members = Readonly<Record<string, unknown>>;

export interface OperationText {
  /** `undefined`: the document is named otherwise, by its hash or its operation. */
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Members;
  readonly extensions: Members;
}

/**
 * `undefined` for anything out of the ordinary, a batch included: what is wrong with it is Apollo's to say.
 */
export function readOperationText({ method, body, search }: Incoming): OperationText | undefined {
  if (method === 'GET') return search === '' ? undefined : ofSearch(search);
  return isMembers(body) ? ofMembers(body) : undefined;
}

function ofMembers(members: Members): OperationText | undefined {
  const { query, operationName, variables, extensions } = members;
  if (!isOptional(query, isText) || query === '') return undefined;
  if (!isOptional(operationName, isText)) return undefined;
  if (!isOptional(variables, isMembers)) return undefined;
  if (!isOptional(extensions, isMembers)) return undefined;
  return {
    query: query ?? undefined,
    operationName: operationName ?? undefined,
    variables: variables ?? NONE,
    extensions: extensions ?? NONE,
  };
}

/** The hash that names the document. `undefined`: none does, or not in a form we know. */
export function hashOf({ extensions }: Pick<OperationText, 'extensions'>): string | undefined {
  const { persistedQuery } = extensions;
  if (!isMembers(persistedQuery) || persistedQuery.version !== 1) return undefined;
  return isText(persistedQuery.sha256Hash) ? persistedQuery.sha256Hash : undefined;
}

const NONE: Members = {};
const PARAMETERS = ['query', 'operationName', 'variables', 'extensions'];

function ofSearch(text: string): OperationText | undefined {
  const search = new URLSearchParams(text);
  if (PARAMETERS.some((name) => search.getAll(name).length > 1)) return undefined;
  try {
    return ofMembers({
      query: search.get('query'),
      operationName: search.get('operationName'),
      variables: parseMember(search.get('variables')),
      extensions: parseMember(search.get('extensions')),
    });
  } catch {
    return undefined;
  }
}

/** @throws SyntaxError */
function parseMember(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}

function isOptional<T>(value: unknown, is: (value: unknown) => value is T): value is T | null | undefined {
  return value === undefined || value === null || is(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
