/**
 * The client that stands beside the types: fetch, the credential, and errors with their codes. It is the same
 * for every gateway, needs no package, and its text is all there is to it.
 */
export function printClient(): string {
  return CLIENT;
}

// It has no template literals of its own, so that it can be read here as it is printed.
const CLIENT = `import type { Collections, Reports } from './contract.js';
import type { OperationText } from './operations.js';

export interface CampusClientOptions {
  /** Of the gateway, e.g. https://school.example. */
  readonly address: string;
  /** An API key or access token, or what gives one for each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** Default: that of the platform. */
  readonly fetch?: typeof fetch;
}

/** What a gateway refused, or could not do. */
export class CampusError extends Error {
  readonly status: number;
  /** E.g. NOT_FOUND; the list of them is in openapi.json. */
  readonly code: string;
  /** The parameters, pointers and values at fault. */
  readonly errors: readonly unknown[];
  readonly requestId: string | undefined;
  /** After how many seconds to ask again, where that may help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(options: {
    readonly message: string;
    readonly status: number;
    readonly code: string;
    readonly errors?: readonly unknown[] | undefined;
    readonly requestId?: string | undefined;
    readonly retryAfterSeconds?: number | undefined;
  }) {
    super(options.message);
    this.name = 'CampusError';
    this.status = options.status;
    this.code = options.code;
    this.errors = options.errors ?? [];
    this.requestId = options.requestId;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

type Name = keyof Collections & string;
type With<Member extends keyof Collections[Name]> = {
  [Key in Name]: [Collections[Key][Member]] extends [never] ? never : Key;
}[Name];
type ReportName = keyof Reports & string;

/** The version of a record, to be sent with a change: refused where it is another one by then. */
export interface SendOptions {
  readonly ifMatch?: string;
  /** The same text again is the same write again: it is done once. */
  readonly idempotencyKey?: string;
}

export interface Versioned<Data> {
  readonly record: Data;
  readonly etag: string;
}

type Values = object;
type Headers_ = Record<string, string>;

export class CampusClient {
  readonly #options: CampusClientOptions;

  constructor(options: CampusClientOptions) {
    this.#options = options;
  }

  /** All records that match; \`pages\` is for more than fit into memory. */
  async list<Key extends With<'query'>>(
    collection: Key,
    query: Collections[Key]['query'] = {} as Collections[Key]['query'],
  ): Promise<readonly Collections[Key]['record'][]> {
    return await this.#json('GET', '/o/recs/' + collection + queryText(query));
  }

  /** The records page by page. */
  async *pages<Key extends With<'query'>>(
    collection: Key,
    query: Collections[Key]['query'] = {} as Collections[Key]['query'],
    limit = 500,
  ): AsyncGenerator<readonly Collections[Key]['record'][], void> {
    let after: string | null = null;
    do {
      const asked: Values = { ...query, limit, ...(after === null ? {} : { after }) };
      const answer = await this.#send('GET', '/o/recs/' + collection + queryText(asked));
      yield (await answer.json()) as readonly Collections[Key]['record'][];
      after = answer.headers.get('x-next-cursor');
    } while (after !== null);
  }

  async get<Key extends With<'query'>>(
    collection: Key,
    id: string,
  ): Promise<Versioned<Collections[Key]['record']>> {
    return await this.#versioned('GET', recordPath(collection, id));
  }

  async create<Key extends With<'create'>>(
    collection: Key,
    data: Collections[Key]['create'],
    options: SendOptions = {},
  ): Promise<Versioned<Collections[Key]['record']>> {
    return await this.#versioned('POST', '/o/' + collection, data, options);
  }

  /** Changes the fields that are named; null removes one. */
  async change<Key extends With<'change'>>(
    collection: Key,
    id: string,
    changes: Collections[Key]['change'],
    options: SendOptions = {},
  ): Promise<Versioned<Collections[Key]['record']>> {
    return await this.#versioned('PATCH', recordPath(collection, id), changes, options);
  }

  async replace<Key extends With<'replace'>>(
    collection: Key,
    id: string,
    data: Collections[Key]['replace'],
    options: SendOptions = {},
  ): Promise<Versioned<Collections[Key]['record']>> {
    return await this.#versioned('PUT', recordPath(collection, id), data, options);
  }

  async remove<Key extends With<'remove'>>(
    collection: Key,
    id: string,
    options: SendOptions = {},
  ): Promise<void> {
    await this.#send('DELETE', recordPath(collection, id), undefined, writeHeaders(options));
  }

  async report<Key extends ReportName>(
    name: Key,
    parameters: Reports[Key]['parameters'],
  ): Promise<Reports[Key]['answer']> {
    return await this.#json('GET', '/reports/' + name + queryText(parameters));
  }

  /** @throws CampusError with the code of the first error, also where there is data beside it */
  async graphql<Result, Variables extends object>(
    text: OperationText<Result, Variables>,
    variables: Variables,
  ): Promise<Result> {
    const answer = await this.#send('POST', '/graphql', { query: text, variables });
    const { data, errors } = (await answer.json()) as GraphqlAnswer<Result>;
    const first = errors?.[0];
    if (first) {
      throw new CampusError({
        message: first.message,
        status: first.extensions?.status ?? answer.status,
        code: first.extensions?.code ?? 'INTERNAL',
        errors: errors ?? [],
        requestId: answer.headers.get('x-request-id') ?? undefined,
      });
    }
    return data as Result;
  }

  async #json<Answer>(method: string, path: string): Promise<Answer> {
    return (await (await this.#send(method, path)).json()) as Answer;
  }

  async #versioned<Data>(
    method: string,
    path: string,
    body?: unknown,
    options: SendOptions = {},
  ): Promise<Versioned<Data>> {
    const answer = await this.#send(method, path, body, writeHeaders(options));
    return { record: (await answer.json()) as Data, etag: answer.headers.get('etag') ?? '' };
  }

  async #send(method: string, path: string, body?: unknown, more: Headers_ = {}): Promise<Response> {
    const { address, token } = this.#options;
    const headers: Headers_ = { accept: 'application/json', ...more };
    const credential = typeof token === 'function' ? await token() : token;
    if (credential !== undefined) headers['authorization'] = 'Bearer ' + credential;
    if (body !== undefined) headers['content-type'] = 'application/json';
    const send = this.#options.fetch ?? fetch;
    const answer = await send(address.replace(/\\/+$/, '') + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.ok) return answer;
    throw await errorOf(answer);
  }
}

interface GraphqlAnswer<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly status?: number };
  }[];
}

interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly instance?: string;
  readonly errors?: readonly unknown[];
  /** Of GraphQL, whose errors have a code and a message of their own. */
  readonly message?: string;
}

async function errorOf(answer: Response): Promise<CampusError> {
  const problem = (await answer.json().catch(() => ({}))) as Problem & GraphqlAnswer<unknown>;
  const [first] = (problem.errors ?? []) as GraphqlAnswer<unknown>['errors'] & object;
  const retryAfter = answer.headers.get('retry-after');
  const code = problem.type?.split(/[:/#]/).at(-1) ?? first?.extensions?.code;
  return new CampusError({
    message: problem.detail ?? first?.message ?? 'The answer is ' + answer.status + '.',
    status: answer.status,
    code: code ?? 'UNKNOWN',
    errors: problem.errors,
    requestId: answer.headers.get('x-request-id') ?? problem.instance,
    retryAfterSeconds: retryAfter === null ? undefined : Number(retryAfter),
  });
}

function recordPath(collection: string, id: string): string {
  return '/o/recs/' + collection + '/' + encodeURIComponent(id);
}

function writeHeaders({ ifMatch, idempotencyKey }: SendOptions): Headers_ {
  return {
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

function queryText(values: Values): string {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) sent.set(name, String(value));
  }
  const text = sent.toString();
  return text === '' ? '' : '?' + text;
}
`;
