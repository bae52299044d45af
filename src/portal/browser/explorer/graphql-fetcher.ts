/**
 * Sends operations to the gateway: over HTTP with the token of the session, which is renewed once if it is
 * rejected. Subscriptions use a WebSocket (graphql-ws), opened with the first one.
 */
import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { type DocumentNode, type ExecutionResult, getOperationAST, parse, print } from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import type { ExampleOperation } from '../../explore/example-operation';
import type { RunOperation } from '../../explore/paged-list';
import type { LoginSession } from '../session/login-session';
import { ObservableValue } from '../session/observable-value';
import { textOf } from './open-example';

/** Facts about the last operation beside its answer. */
export interface LastRun {
  readonly durationMs: number;
  readonly bytes: number;
}

export const lastRun = new ObservableValue<LastRun | undefined>(undefined);

export interface GraphqlFetcher {
  readonly fetcher: Fetcher;
  /** Runs a query apart from the editor. */
  query(operation: RunOperation): Promise<ExecutionResult>;
  close(): void;
}

export function createGraphqlFetcher(
  session: LoginSession,
  examples: readonly ExampleOperation[],
): GraphqlFetcher {
  let socket: Client | undefined;
  // An unchanged example is sent in the form that a gateway accepts which runs registered operations only.
  const registered = new Map(examples.map((example) => [textOf(example), print(parse(example.document))]));
  const fetcher: Fetcher = (typed, options) => {
    const params = { ...typed, query: registered.get(typed.query) ?? typed.query };
    if (isSubscription(options?.documentAST, params.operationName)) {
      socket ??= openSocket(session);
      return noteEvents(socket.iterate<Readonly<Record<string, unknown>>>(payloadOf(params)) as Events);
    }
    return send(session, params, options?.headers ?? {});
  };
  return {
    fetcher,
    query: ({ query, variables, operationName }) =>
      send(session, { query: registered.get(query) ?? query, variables, operationName }, {}),
    close() {
      void socket?.dispose();
    },
  };
}

/** The events of graphql-ws, in the type of graphql-js, whose extensions are optional. */
type Events = AsyncIterableIterator<ExecutionResult>;

async function send(
  session: LoginSession,
  params: FetcherParams,
  headers: Readonly<Record<string, unknown>>,
): Promise<ExecutionResult> {
  try {
    const token = await session.accessToken();
    if (token === undefined) return SESSION_ENDED;
    const answer = await post(token, params, headers);
    if (answer.status !== 401) return answer.result;
    const renewed = await session.renew(token);
    if (renewed === undefined) return SESSION_ENDED;
    return (await post(renewed, params, headers)).result;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return failure(
      'The gateway cannot be reached. Is it running, and are you online? Then run the operation once more.',
    );
  }
}

async function post(token: string, params: FetcherParams, headers: Readonly<Record<string, unknown>>) {
  const startedAt = performance.now();
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify(payloadOf(params)),
  });
  const text = await response.text();
  if (params.operationName !== 'IntrospectionQuery') {
    lastRun.set({ durationMs: performance.now() - startedAt, bytes: text.length });
  }
  return { status: response.status, result: readResult(text, response.status) };
}

function readResult(text: string, status: number): ExecutionResult {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // A proxy in front of the gateway answers with a page of its own.
  }
  return failure(`The gateway answered ${status}, not with JSON. Try again in a moment.`);
}

function openSocket(session: LoginSession): Client {
  return createClient({
    url: new URL('/graphql', location.href).href.replace(/^http/, 'ws'),
    connectionParams: async () => ({ authorization: `Bearer ${(await session.accessToken()) ?? ''}` }),
  });
}

function payloadOf({ query, variables, operationName }: FetcherParams) {
  return {
    query,
    ...(isVariables(variables) && { variables }),
    ...(isNameIn(query, operationName) && { operationName }),
  };
}

/** GraphiQL updates the operation name with a delay, and keeps the last one while the document is invalid. */
function isNameIn(query: string, operationName: string | null | undefined): boolean {
  return Boolean(operationName) && new RegExp(`\\b${operationName}\\b`).test(query);
}

function isVariables(variables: unknown): variables is Record<string, unknown> {
  return typeof variables === 'object' && variables !== null;
}

export function isSubscription(
  document: DocumentNode | undefined,
  operationName: string | null | undefined,
): boolean {
  return document !== undefined && getOperationAST(document, operationName)?.operation === 'subscription';
}

const SESSION_ENDED = failure('Your session has ended. Log in again, then run the operation once more.');

function failure(message: string): ExecutionResult {
  return { errors: [{ message }] } as unknown as ExecutionResult;
}

/** Older events are dropped. */
const MOST_EVENTS = 500;

export const liveEvents = new ObservableValue<readonly ExecutionResult[]>([]);

/** Records the events that pass through. Ending the result ends its source, including a pending event. */
function noteEvents(source: AsyncIterableIterator<ExecutionResult>): AsyncIterableIterator<ExecutionResult> {
  liveEvents.set([]);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const step = await source.next().catch((fault: unknown) => {
        throw toError(fault);
      });
      if (!step.done) liveEvents.set([step.value, ...liveEvents.get()].slice(0, MOST_EVENTS));
      return step;
    },
    async return() {
      return (await source.return?.()) ?? { done: true, value: undefined };
    },
  };
}

/** Combines the events in one answer: each field has the list of its events. */
export function dataOfEvents(events: readonly ExecutionResult[]): Readonly<Record<string, unknown>> {
  const names = new Set(events.flatMap(({ data }) => Object.keys(data ?? {})));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      events.map(({ data }) => data?.[name]).filter((event) => event !== null),
    ]),
  );
}

/** A rejected subscription is a list of errors, and a closed connection an event with a reason. */
function toError(fault: unknown): unknown {
  if (Array.isArray(fault)) return new Error(fault.map(({ message }) => message).join(' '));
  if (!(fault instanceof CloseEvent)) return fault;
  const reason = fault.reason === '' ? `code ${fault.code}` : fault.reason;
  return new Error(`The live connection was closed: ${reason}. Run the operation once more to go on.`);
}
