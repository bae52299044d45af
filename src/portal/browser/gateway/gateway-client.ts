/**
 * How the portal asks the gateway: GraphQL over HTTP as the user who is logged in, live data over one
 * WebSocket, and files by REST. A token that is refused is renewed; where the session has ended, the
 * request waits for its user to log in again and then goes on.
 */
import type { Client } from 'graphql-ws';
import type { LoginSession } from '../session/login-session';
import { problemCode } from '../session/problem-code';
import { parseExactly, printExactly } from './exact-number';
import { GatewayProblem } from './gateway-problem';
import { type CallerHeaders, callerHeaders, GRAPHQL_HEADERS } from './graphql-headers';
import type { PortalOperation } from './portal-operation';
import { UnansweredWrites, type WritePlace } from './unanswered-writes';

interface AskOptions {
  /** Of the operation, where the document names it. */
  readonly name?: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * Where the id of a write is kept until its answer has come. `tab` is for what is made of a draft, which is
   * asked for again after a reload, and in which nothing is secret.
   */
  readonly keptIn?: WritePlace | undefined;
}

/** Who is told of events. */
export interface Follower<Result> {
  told(event: Result): void;
  /** Events may have been lost: what they would have told of is to be read. */
  missed(): void;
}

interface GraphqlAnswer<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: Readonly<Record<string, unknown>>;
  }[];
}

export class GatewayClient {
  readonly #session: LoginSession;
  readonly #branch: string;
  readonly #unanswered = new UnansweredWrites(sessionStorage);
  #socket: Promise<Client> | undefined;
  /** What the socket said last of who follows. */
  #socketToken = '';

  /** With the branch to work in; '' for the school of who is logged in. */
  constructor(session: LoginSession, branch: string) {
    this.#session = session;
    this.#branch = branch;
  }

  /** @throws GatewayProblem */
  async execute<Result, Variables>(
    operation: PortalOperation<Result, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): Promise<Result> {
    return await this.executeText<Result>(operation.text, variables, { name: operation.name, signal });
  }

  /**
   * As `execute`, with the id of the request, by which it is undone; known again where `keptIn` says. @throws
   * GatewayProblem
   */
  async executeTraced<Result, Variables>(
    { name, text }: PortalOperation<Result, Variables>,
    variables: Variables,
    keptIn?: WritePlace,
  ): Promise<{ readonly answer: Result; readonly requestId: string }> {
    return await this.#ask<Result>(text, variables, { name, keptIn });
  }

  /** A document that is only known when it is asked, such as that of a report. @throws GatewayProblem */
  async executeText<Result>(query: string, variables: unknown, options: AskOptions = {}): Promise<Result> {
    const { answer } = await this.#ask<Result>(query, variables, options);
    return answer;
  }

  /** What needs no credential, whoever is logged in. @throws GatewayProblem */
  async executeOpenly<Result, Variables>(
    { name, text }: PortalOperation<Result, Variables>,
    variables: Variables,
  ): Promise<Result> {
    const request = graphqlRequest({ query: text, variables, operationName: name });
    return await readAnswer<Result>(await fetch('/graphql', request).catch(unreachable));
  }

  /**
   * A request as the user, of any path. Answers that are no 401 are the caller's. @throws GatewayProblem
   */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return await this.#asUser((credentials) => send(path, init, credentials));
  }

  /** As `fetch`, and what is no success is thrown. @throws GatewayProblem */
  async fetchAnswer(path: string, init: RequestInit = {}): Promise<Response> {
    return await this.sendAsUser((credentials) => send(path, init, credentials));
  }

  /** As `fetchAnswer`, by the caller's own way of sending, which throws a `TypeError` as `fetch` does. */
  async sendAsUser(send: (credentials: CallerHeaders) => Promise<Response>): Promise<Response> {
    const response = await this.#asUser((credentials) => send(credentials).catch(unreachable));
    if (!response.ok) throw await toProblem(response, await readJson(response));
    return response;
  }

  /** @throws GatewayProblem */
  async fetchFile(path: string, init: RequestInit = {}): Promise<Blob> {
    return await (await this.fetchAnswer(path, init)).blob();
  }

  /**
   * Tells each event; gives the function that ends it. A connection that is lost is opened again, and so is
   * one whose session has ended, once its user is in again; then `missed` is told, for nobody knows what
   * happened meanwhile.
   */
  follow<Result, Variables>(
    operation: PortalOperation<Result, Variables>,
    variables: Variables,
    { told, missed }: Follower<Result>,
  ): () => void {
    let isOver = false;
    let isInterrupted = false;
    let stops: readonly (() => void)[] = [];
    const begin = async (): Promise<void> => {
      const socket = await this.#openedSocket();
      if (isOver) return;
      const interrupted = socket.on('closed', () => {
        isInterrupted = true;
      });
      const connected = socket.on('connected', () => {
        if (isInterrupted) missed();
        isInterrupted = false;
      });
      const stop = socket.subscribe<Result>(
        {
          query: operation.text,
          variables: variables as Record<string, unknown>,
          operationName: operation.name,
        },
        {
          next: ({ data }) => data && told(data),
          error: (fault) => {
            if (isOver || !isRefusedToken(fault)) return;
            end();
            void this.#renewedToken(this.#socketToken).then(begin).catch(notFollowed);
          },
          complete: () => undefined,
        },
      );
      stops = [interrupted, connected, stop];
    };
    const end = () => {
      for (const stop of stops) stop();
    };
    void begin().catch(notFollowed);
    return () => {
      isOver = true;
      end();
    };
  }

  /** Where its script cannot be loaded, e.g. offline, the next one who follows tries again. */
  async #openedSocket(): Promise<Client> {
    this.#socket ??= openSocket(async () => {
      this.#socketToken = (await this.#session.accessToken()) ?? '';
      return this.#credentials(this.#socketToken);
    });
    try {
      return await this.#socket;
    } catch (fault) {
      this.#socket = undefined;
      throw fault;
    }
  }

  /** A write is done once, also where its answer is lost and it is asked again. */
  async #ask<Result>(
    query: string,
    variables: unknown,
    { name, signal, keptIn }: AskOptions,
  ): Promise<{ readonly answer: Result; readonly requestId: string }> {
    const request = graphqlRequest({ query, variables, ...(name !== undefined && { operationName: name }) });
    const asked = query.startsWith('mutation') ? request.body : undefined;
    const id = asked === undefined ? undefined : this.#unanswered.idOf(asked, keptIn);
    const headers = {
      ...request.headers,
      ...(id !== undefined && { 'idempotency-key': id, 'x-request-id': id }),
    };
    try {
      const response = await this.fetch('/graphql', { ...request, headers, ...(signal && { signal }) });
      const answer = await readAnswer<Result>(response);
      if (asked !== undefined) this.#unanswered.forget(asked);
      return { answer, requestId: response.headers.get('x-request-id') ?? '' };
    } catch (fault) {
      if (asked !== undefined && !mayBeDone(fault)) this.#unanswered.forget(asked);
      throw fault;
    }
  }

  /** Sent again with another token where that was refused. */
  async #asUser(send: (credentials: CallerHeaders) => Promise<Response>): Promise<Response> {
    const token = await this.#token();
    const response = await send(this.#credentials(token));
    if (response.status !== 401) return response;
    return await send(this.#credentials(await this.#renewedToken(token)));
  }

  /** Another than the one that was refused; where the session has ended, once its user is in again. */
  async #renewedToken(refused: string): Promise<string> {
    return (await this.#session.renew(refused)) ?? (await this.#token());
  }

  #credentials(token: string): CallerHeaders {
    return callerHeaders(token, this.#branch);
  }

  async #token(): Promise<string> {
    const token = await this.#session.accessToken().catch(unreachable);
    if (token !== undefined) return token;
    if (await this.#session.loggedInAgain()) return await this.#token();
    throw new GatewayProblem('You are logged out.', { kind: 'sessionEnded', code: 'UNAUTHENTICATED' });
  }
}

/** Whether a write that came to nothing here may have been done at the gateway all the same. */
function mayBeDone(fault: unknown): boolean {
  if (!(fault instanceof GatewayProblem)) return true;
  return fault.kind === 'unreachable' || /^(INTERNAL|UNAVAILABLE|5\d\d)$/.test(fault.code);
}

function graphqlRequest(asked: Readonly<Record<string, unknown>>) {
  return {
    method: 'POST',
    headers: GRAPHQL_HEADERS,
    body: printExactly(asked),
  };
}

/** What a request is answered that was sent before this script; `undefined` where it was not, or badly. */
export async function readEarly<Result>(
  arrived: Promise<Response | undefined> | undefined,
): Promise<Result | undefined> {
  const response = await arrived?.catch(() => undefined);
  return response?.ok ? await readAnswer<Result>(response).catch(() => undefined) : undefined;
}

async function readAnswer<Result>(response: Response): Promise<Result> {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const answer = await readJson<GraphqlAnswer<Result>>(response);
  const [first] = answer?.errors ?? [];
  if (first) {
    const { extensions = {} } = first;
    throw new GatewayProblem(first.message, {
      kind: 'refused',
      code: String(extensions.code ?? response.status),
      requestId,
      extensions,
    });
  }
  if (answer?.data === null || answer?.data === undefined) throw await toProblem(response, answer);
  return answer.data;
}

async function send(path: string, init: RequestInit, credentials: CallerHeaders): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(credentials)) headers.set(name, value);
  return await fetch(path, { ...init, headers }).catch(unreachable);
}

function unreachable(fault: unknown): never {
  if (!(fault instanceof TypeError)) throw fault;
  throw new GatewayProblem('The gateway cannot be reached.', { kind: 'unreachable', code: 'UNREACHABLE' });
}

/** The detail of a problem (RFC 9457); of anything else, its status. */
async function toProblem(response: Response, read: unknown): Promise<GatewayProblem> {
  const { detail, title, type, ...extensions } = (read ?? {}) as Readonly<Record<string, unknown>>;
  const words = [detail, title].find((text) => typeof text === 'string');
  return new GatewayProblem(String(words ?? `The gateway answered ${response.status}.`), {
    kind: 'refused',
    code: problemCode({ type }, response.status),
    requestId: response.headers.get('x-request-id') ?? undefined,
    extensions,
  });
}

/** @throws GatewayProblem where the answer broke off */
async function readJson<Value>(response: Response): Promise<Value | undefined> {
  const text = await response.text().catch(unreachable);
  try {
    return parseExactly(text) as Value;
  } catch {
    return undefined;
  }
}

/** What cannot be followed is still read again whenever the page asks for it. */
function notFollowed(): void {}

/** How the gateway closes a socket whose token is none, or is one no longer. */
const UNAUTHORIZED = 4401;

function isRefusedToken(fault: unknown): boolean {
  return fault instanceof CloseEvent && fault.code === UNAUTHORIZED;
}

/** Loaded with the first that is followed. */
async function openSocket(connectionParams: () => Promise<CallerHeaders>): Promise<Client> {
  const { createClient } = await import('graphql-ws');
  return createClient({
    url: new URL('/graphql', location.href).href.replace(/^http/, 'ws'),
    lazyCloseTimeout: 5_000,
    retryAttempts: 1_000,
    shouldRetry: () => true,
    connectionParams,
  });
}
