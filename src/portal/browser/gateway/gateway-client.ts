/**
 * Sends the requests of the portal as the logged-in user: GraphQL over HTTP, live data over one WebSocket,
 * and files by REST. A refused token is renewed. If the session has ended, the request waits until the user
 * has logged in again, and is then repeated.
 */
import type { Client } from 'graphql-ws';
import { GatewayProblem, toProblem } from '../session/gateway-problem';
import {
  type CallerHeaders,
  callerHeaders,
  GRAPHQL_HEADERS,
  type PortalOperation,
} from '../session/graphql-headers';
import type { LoginSession } from '../session/login-session';
import { parseExactly, printExactly } from './long-number';
import { UnansweredWrites, type WritePlace } from './unanswered-writes';

interface AskOptions {
  /** The name of the operation, if the document has one. */
  readonly name?: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * The place of the id of a write until its answer arrives. `tab` is for writes of a draft, which are
   * repeated after a reload; they must contain no secret.
   */
  readonly keptIn?: WritePlace | undefined;
  /** Parts of the answer that the user may not read are null, without an error. */
  readonly leavesOutForbidden?: boolean;
}

/** The callbacks of a subscription. */
export interface Follower<Result> {
  onEvent(event: Result): void;
  /** Called when events may have been lost, so that the data must be read again. */
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
  /** The token that the socket was opened with. */
  #socketToken = '';

  /** `branch` is the branch to work in; '' for the user's own school. */
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
   * Like `execute`, and returns the id of the request, by which it can be undone. `keptIn` makes a repeated
   * write recognizable. @throws GatewayProblem
   */
  async executeTraced<Result, Variables>(
    { name, text }: PortalOperation<Result, Variables>,
    variables: Variables,
    keptIn?: WritePlace,
  ): Promise<{ readonly answer: Result; readonly requestId: string }> {
    return await this.#ask<Result>(text, variables, { name, keptIn });
  }

  /** Executes a document that is composed at run time, such as that of a report. @throws GatewayProblem */
  async executeText<Result>(query: string, variables: unknown, options: AskOptions = {}): Promise<Result> {
    const { answer } = await this.#ask<Result>(query, variables, options);
    return answer;
  }

  /** Executes an operation without a credential. @throws GatewayProblem */
  async executeOpenly<Result, Variables>(
    { name, text }: PortalOperation<Result, Variables>,
    variables: Variables,
  ): Promise<Result> {
    const request = graphqlRequest({ query: text, variables, operationName: name });
    return await readAnswer<Result>(await fetch('/graphql', request).catch(unreachable));
  }

  /**
   * Sends a request to any path as the user. The caller must handle every status but 401. @throws
   * GatewayProblem
   */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return await this.#asUser((credentials) => send(path, init, credentials));
  }

  /** Like `fetch`, but throws for every answer that is not a success. @throws GatewayProblem */
  async fetchAnswer(path: string, init: RequestInit = {}): Promise<Response> {
    return await this.sendAsUser((credentials) => send(path, init, credentials));
  }

  /**
   * Like `fetchAnswer`, with the caller's own function for sending, which must throw a `TypeError` as `fetch`
   * does.
   */
  async sendAsUser(send: (credentials: CallerHeaders) => Promise<Response>): Promise<Response> {
    const response = await this.#asUser((credentials) => send(credentials).catch(unreachable));
    if (!response.ok) throw toProblem(response, await readJson(response));
    return response;
  }

  /** @throws GatewayProblem */
  async fetchFile(path: string, init: RequestInit = {}): Promise<Blob> {
    return await (await this.fetchAnswer(path, init)).blob();
  }

  /**
   * Calls the follower with each event, and returns a function that ends the subscription. A lost connection
   * is opened again; after the end of the session, once the user has logged in again. A subscription that the
   * gateway ends, for example because too much changed at once, is started again after a while. `missed` is
   * called then, because events may have been lost meanwhile.
   */
  follow<Result, Variables>(
    operation: PortalOperation<Result, Variables>,
    variables: Variables,
    { onEvent, missed }: Follower<Result>,
  ): () => void {
    let isOver = false;
    let isInterrupted = false;
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stops: readonly (() => void)[] = [];
    const begin = async (): Promise<void> => {
      const socket = await this.openedSocket();
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
          next: ({ data, errors }) => {
            failures = 0;
            if (data && !errors) onEvent(data);
          },
          error: (fault) => {
            if (isOver) return;
            end();
            if (fault instanceof CloseEvent && fault.code === UNAUTHORIZED)
              void this.#renewedToken(this.#socketToken).then(begin).catch(retry);
            else if (!isFinal(fault)) retry();
          },
          complete: () => undefined,
        },
      );
      stops = [interrupted, connected, stop];
      if (failures > 0) missed();
    };
    const retry = () => {
      if (isOver) return;
      timer = setTimeout(() => void begin().catch(retry), Math.min(1_000 * 2 ** failures, LONGEST_RETRY_MS));
      failures += 1;
    };
    const end = () => {
      for (const stop of stops) stop();
      clearTimeout(timer);
    };
    void begin().catch(retry);
    return () => {
      isOver = true;
      end();
    };
  }

  /** The socket of subscriptions. If its script cannot be loaded, e.g. offline, the next call tries again. */
  async openedSocket(): Promise<Client> {
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

  /** A write takes effect once, even if its answer is lost and it is repeated. */
  async #ask<Result>(
    query: string,
    variables: unknown,
    { name, signal, keptIn, leavesOutForbidden }: AskOptions,
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
      const answer = await readAnswer<Result>(response, leavesOutForbidden);
      if (asked !== undefined) this.#unanswered.forget(asked);
      return { answer, requestId: response.headers.get('x-request-id') ?? '' };
    } catch (fault) {
      if (asked !== undefined && !mayBeDone(fault)) this.#unanswered.forget(asked);
      throw fault;
    }
  }

  /** Sends a request, and repeats it with a new token if the first was refused. */
  async #asUser(send: (credentials: CallerHeaders) => Promise<Response>): Promise<Response> {
    const token = await this.#token();
    const response = await send(this.#credentials(token));
    if (response.status !== 401) return response;
    return await send(this.#credentials(await this.#renewedToken(token)));
  }

  /**
   * Returns a new token for a refused one; after the end of the session, once the user has logged in again.
   */
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

/** Whether a write that failed in this page may have taken effect at the gateway. */
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

/**
 * Reads the answer to a request that was sent before this script loaded; `undefined` if there is none, or if
 * it failed.
 */
export async function readEarly<Result>(
  arrived: Promise<Response | undefined> | undefined,
): Promise<Result | undefined> {
  const response = await arrived?.catch(() => undefined);
  return response?.ok ? await readAnswer<Result>(response).catch(() => undefined) : undefined;
}

async function readAnswer<Result>(response: Response, leavesOutForbidden = false): Promise<Result> {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const answer = await readJson<GraphqlAnswer<Result>>(response);
  const { errors = [] } = answer ?? {};
  const [first] = leavesOutForbidden
    ? errors.filter(({ extensions }) => extensions?.code !== 'FORBIDDEN')
    : errors;
  if (first) {
    const { extensions = {} } = first;
    throw new GatewayProblem(first.message, {
      kind: 'refused',
      code: String(extensions.code ?? response.status),
      requestId,
      extensions,
    });
  }
  if (answer?.data === null || answer?.data === undefined) throw toProblem(response, answer);
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

/** @throws GatewayProblem if the answer breaks off */
async function readJson<Value>(response: Response): Promise<Value | undefined> {
  const text = await response.text().catch(unreachable);
  try {
    return parseExactly(text) as Value;
  } catch {
    return undefined;
  }
}

/** The longest wait before a subscription that the gateway ended is started again. */
const LONGEST_RETRY_MS = 60_000;

/** The code with which the gateway closes a socket whose token is invalid or has expired. */
const UNAUTHORIZED = 4401;

/** Whether the gateway would refuse the same subscription again, e.g. because the user lacks a right. */
function isFinal(fault: unknown): boolean {
  if (!Array.isArray(fault)) return false;
  return (fault as NonNullable<GraphqlAnswer<never>['errors']>).some(({ extensions = {} }) => {
    const { code, status } = extensions;
    return Number(status) < 429 && code !== 'LIMIT_EXCEEDED';
  });
}

/** Loaded with the first subscription. */
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
