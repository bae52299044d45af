/** Identifies the operation of a request: from the members of a POST, or the parameters of a GET. */
import { tryTo } from '../../../base/errors.js';

/** The part of a request to `/graphql` that concerns GraphQL. */
export interface Incoming {
  readonly method: string;
  readonly body: unknown;
  /** The query string with its question mark; empty if there is none. */
  readonly search: string;
}

export type Members = Readonly<Record<string, unknown>>;

export interface OperationText {
  /** `undefined`: the document is identified by its hash or operation name. */
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Members;
  readonly extensions: Members;
}

/** `undefined` for anything unusual, such as a batch, whose errors are Apollo's to report. */
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

const NONE: Members = {};
const PARAMETERS = ['query', 'operationName', 'variables', 'extensions'];

function ofSearch(text: string): OperationText | undefined {
  const search = new URLSearchParams(text);
  if (PARAMETERS.some((name) => search.getAll(name).length > 1)) return undefined;
  return tryTo(() =>
    ofMembers({
      query: search.get('query'),
      operationName: search.get('operationName'),
      variables: parseMember(search.get('variables')),
      extensions: parseMember(search.get('extensions')),
    }),
  );
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

/** The members of each operation of a request, whatever they are; of a GET, without its variables. */
export function listSentMembers({ method, body, search }: Incoming): readonly Members[] {
  if (method !== 'GET') return (Array.isArray(body) ? body : [body]).filter(isMembers);
  const parameters = new URLSearchParams(search);
  const [query, operationName] = ['query', 'operationName'].map((name) => parameters.get(name) ?? undefined);
  const extensions = parameters.get('extensions');
  return [{ query, operationName, extensions: tryTo(() => parseMember(extensions)) }];
}
