/** Sends operations as the user, and notes what the panel of the result shows beside the answer. */
import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import type { DocumentNode, ExecutionResult } from 'graphql';
import { GraphQLError, getOperationAST, parse, print } from 'graphql';
import type { ExampleOperation } from '../../explore/example-operation';
import type { RunOperation } from '../../explore/paged-list';
import type { GatewayClient } from '../gateway/gateway-client';
import { GatewayProblem } from '../session/gateway-problem';
import { GRAPHQL_HEADERS } from '../session/graphql-headers';
import { ObservableValue } from '../session/login-session';
import { readJsonObject } from '../shell/read-json';
import { textOf } from './library-plugin';

/** Facts about the last operation beside its answer. */
interface LastRun {
  readonly durationMs: number;
  readonly bytes: number;
}

export const lastRun = new ObservableValue<LastRun | undefined>(undefined);

export interface GraphqlFetcher {
  readonly fetcher: Fetcher;
  /** Runs a query apart from the editor. */
  query(operation: RunOperation): Promise<ExecutionResult>;
}

export function createGraphqlFetcher(
  gateway: GatewayClient,
  examples: readonly ExampleOperation[],
): GraphqlFetcher {
  // An unchanged example is sent in the form that a gateway accepts which runs registered operations only.
  const registered = new Map(examples.map((example) => [textOf(example), print(parse(example.document))]));
  const asRegistered = <Params extends FetcherParams>(params: Params): FetcherParams => ({
    ...params,
    query: registered.get(params.query) ?? params.query,
  });
  return {
    fetcher(typed, options) {
      const params = asRegistered(typed);
      return isSubscription(options?.documentAST, params.operationName)
        ? followed(gateway, params)
        : send(gateway, params, options?.headers);
    },
    query: (operation) => send(gateway, asRegistered(operation)),
  };
}

/** The events of graphql-ws, in the type of graphql-js, whose extensions are optional. */
type Events = AsyncIterableIterator<ExecutionResult>;

async function followed(gateway: GatewayClient, params: FetcherParams): Promise<Events> {
  const socket = await gateway.openedSocket();
  return noteEvents(socket.iterate<Readonly<Record<string, unknown>>>(payloadOf(params)) as Events);
}

async function send(
  gateway: GatewayClient,
  params: FetcherParams,
  headers: Readonly<Record<string, unknown>> = {},
): Promise<ExecutionResult> {
  const startedAt = performance.now();
  try {
    const response = await gateway.fetch('/graphql', {
      method: 'POST',
      headers: { ...(headers as Readonly<Record<string, string>>), ...GRAPHQL_HEADERS },
      body: JSON.stringify(payloadOf(params)),
    });
    const text = await response.text();
    if (params.operationName !== 'IntrospectionQuery') {
      lastRun.set({ durationMs: performance.now() - startedAt, bytes: text.length });
    }
    return readResult(text, response.status);
  } catch (error) {
    if (!(error instanceof GatewayProblem)) throw error;
    return failure(error.message);
  }
}

function readResult(text: string, status: number): ExecutionResult {
  // A proxy in front of the gateway answers with a page of its own.
  return (
    readJsonObject(text) ?? failure(`The gateway answered ${status}, not with JSON. Try again in a moment.`)
  );
}

function payloadOf({ query, variables, operationName }: FetcherParams) {
  return {
    query,
    ...(typeof variables === 'object' && variables !== null && { variables }),
    ...(isNameIn(query, operationName) && { operationName }),
  };
}

/** GraphiQL updates the operation name with a delay, and keeps the last one while the document is invalid. */
function isNameIn(query: string, operationName: string | null | undefined): boolean {
  return Boolean(operationName) && new RegExp(`\\b${operationName}\\b`).test(query);
}

export function isSubscription(
  document: DocumentNode | undefined,
  operationName: string | null | undefined,
): boolean {
  return document !== undefined && getOperationAST(document, operationName)?.operation === 'subscription';
}

function failure(message: string): ExecutionResult {
  return { errors: [new GraphQLError(message)] };
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
