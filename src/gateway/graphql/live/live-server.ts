/**
 * Subscriptions over WebSockets: the protocol graphql-transport-ws by graphql-ws, with the limits, checks and
 * errors of `/graphql`. Queries and mutations use HTTP.
 *
 * @see https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
 */
import {
  type ExecutionArgs,
  GraphQLError,
  type GraphQLResolveInfo,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { type Context, makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import { assertWithinRate, type Rate, ServiceError } from '../../../base/errors.js';
import { assertJsonShape, bodyShape } from '../../../base/json/body-shape.js';
import { shareWithAll } from '../../../base/model/end-signal.js';
import { callerName } from '../../../base/model/scope.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { Config } from '../../config/config.js';
import { assertPermitted, type PermissionOptions } from '../limits/permitted.js';
import { formatGraphqlError, isFault } from '../operation/graphql-errors.js';
import { finishError, type OperationOptions } from '../operation/operation.js';
import type { ServedSchema } from '../operation/served-schema.js';
import { noteUsedFields } from '../operation/used-fields.js';
import type { RegisteredOperations } from '../persisted/registered-operations.js';
import { EventQueue, MessagePrinter, openSourceStream, PrintedResult } from './event-queue.js';
import {
  CLOSE,
  createLiveCaller,
  isRefusal,
  type LiveCallerOptions,
  LiveConnection,
  type LiveOrigin,
  type LiveSocket,
} from './live-connection.js';
import type { LiveContext, LiveSources } from './live-context.js';
import { RecordChanges } from './record-changes.js';

export interface LiveServices extends Omit<LiveSources, 'recordChanges'> {
  readonly store: Pick<RecordStore, 'find'>;
  readonly callers: LiveCallerOptions;
  /** Counts every message as a request of its user. */
  readonly rateLimits: { take(caller: string): Rate };
}

interface LiveSurroundings {
  /** The current schema. A subscription keeps the schema it began with. */
  readonly served: () => ServedSchema;
  readonly operations: PermissionOptions & Pick<OperationOptions, 'fieldMeter' | 'onFault'>;
  /** The only documents that are answered; `undefined`: any document. */
  readonly registered: RegisteredOperations | undefined;
  readonly config: Config;
}

/** How often the credential of every connection is checked, in addition to the check for every event. */
const CHECK_MS = 1_000;

/** The messages over the rate that are answered; further ones end the connection. */
const MOST_EXCESS = 20;
const INTERNAL_ERROR = 1011;

interface OpenedConnection {
  readonly connection: LiveConnection;
  /** Handles a message; resolves when the next one may be handled. */
  receive(message: string): Promise<void>;
  /** Never rejects. */
  closed(code: number, reason: string): Promise<void>;
}

type Client = Context<Record<string, unknown>, LiveConnection>;

export class LiveServer {
  readonly #services: LiveServices;
  readonly #surroundings: LiveSurroundings;
  readonly #sources: LiveSources;
  readonly #protocol: Server<LiveConnection>;
  readonly #printer = new MessagePrinter();
  readonly #connections = new Set<LiveConnection>();
  readonly #timer: NodeJS.Timeout;
  #eventsSent = 0;

  /** The caller closes it. */
  constructor(services: LiveServices, surroundings: LiveSurroundings) {
    const { store, feed, topics, imports, importNews } = services;
    this.#services = services;
    this.#surroundings = surroundings;
    this.#sources = { feed, topics, imports, importNews, recordChanges: new RecordChanges({ feed, store }) };
    this.#protocol = makeServer<Record<string, unknown>, LiveConnection>({
      connectionInitWaitTimeout: surroundings.config.liveInitTimeoutMs,
      onConnect: (client) => this.#greet(client),
      onSubscribe: (client, _id, payload) => this.#prepare(client, payload),
      subscribe: openSourceStream,
      onOperation: ({ extra: connection }) => connection.onBegin?.(),
      // Sends the printed message as it is, instead of having graphql-ws print it.
      onNext: (_client, _id, _payload, _args, result) =>
        result instanceof PrintedResult ? result : undefined,
      onError: (client, _id, _payload, errors) => this.#format(client.extra, errors),
      jsonMessageReplacer: this.#printer.replace,
    });
    this.#timer = setInterval(() => this.#checkAll(), CHECK_MS);
    this.#timer.unref();
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Whether an HTTP answer may not become another connection. A WebSocket closes an older one instead. */
  get isFull(): boolean {
    return this.#connections.size >= this.#surroundings.config.liveConnections;
  }

  get subscriptions(): number {
    let count = 0;
    for (const connection of this.#connections) count += connection.subscriptions;
    return count;
  }

  /** The size limit of a message before authentication. */
  get firstMessageBytes(): number {
    return this.#surroundings.config.anonymousBodyLimitBytes;
  }

  get eventsSent(): number {
    let count = this.#eventsSent;
    for (const connection of this.#connections) count += connection.eventsSent;
    return count;
  }

  /** Serves a socket. Call `receive` for one message at a time, and `closed` when the socket is closed. */
  open(socket: LiveSocket, origin: LiveOrigin): OpenedConnection {
    const connection = new LiveConnection(socket, origin, this.#surroundings.config.liveQueueBytes);
    this.#connections.add(connection);
    let listen: (message: string) => Promise<void> = async () => {};
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: async (message) => {
          // The only message before `connection_ack` would be the answer to a ping; a closed one takes none.
          if (connection.caller === undefined || !connection.isOpen) return;
          const printed = this.#printer.print(message);
          await socket.send(printed);
          connection.assertKeepsUp();
        },
        close: (code = CLOSE.goingAway, reason = '') => connection.close(code, reason),
        onMessage: (listener) => {
          listen = listener;
        },
      },
      connection,
    );
    return {
      connection,
      receive: async (message) => {
        if (!this.#admits(connection, message)) return;
        const hasBegun = new Promise<void>((resolve) => {
          connection.onBegin = resolve;
        });
        const end = listen(message).catch((error: unknown) => {
          this.#surroundings.operations.onFault(error, origin.requestId);
          connection.close(INTERNAL_ERROR, 'Internal server error');
        });
        await Promise.race([end, hasBegun]);
      },
      closed: async (code, reason) => {
        this.#connections.delete(connection);
        this.#eventsSent += connection.eventsSent;
        connection.ended();
        await closed(code, reason).catch((error: unknown) =>
          this.#surroundings.operations.onFault(error, origin.requestId),
        );
      },
    };
  }

  /**
   * Counts a message or control frame as a request of the user, if that is known. False: the connection is
   * closed, because the user continues over the rate.
   */
  isWithinRate(connection: LiveConnection): boolean {
    if (connection.user === undefined) return true;
    const rate = this.#services.rateLimits.take(callerName(connection.user));
    connection.rate = rate;
    connection.excess = rate.allowed ? 0 : connection.excess + 1;
    if (connection.excess <= MOST_EXCESS) return true;
    connection.close(CLOSE.tooMany, `More than ${rate.limit} messages in a minute (RATE_LIMIT_PER_MINUTE)`);
    return false;
  }

  /** Ends every connection. */
  closeAll(code: number, reason: string): void {
    for (const connection of this.#connections) connection.close(code, reason);
  }

  close(): void {
    clearInterval(this.#timer);
    this.closeAll(CLOSE.goingAway, 'This gateway is shutting down');
  }

  /** False: the message is not to be parsed, and the connection is closed for it. */
  #admits(connection: LiveConnection, message: string): boolean {
    const { anonymousBodyLimitBytes: firstMessageBytes, bodyMaxMembers } = this.#surroundings.config;
    const isKnown = connection.caller !== undefined;
    const bytes = Buffer.from(message);
    if (!isKnown && bytes.length > firstMessageBytes) {
      connection.close(
        CLOSE.tooLarge,
        `Before connection_init, a message has at most ${firstMessageBytes} bytes`,
      );
      return false;
    }
    if (!this.isWithinRate(connection)) return false;
    try {
      assertJsonShape(bytes, bodyShape(isKnown ? 'large' : 'small', bodyMaxMembers));
      return true;
    } catch (error) {
      this.#refuse(connection, error);
      return false;
    }
  }

  /** Handles `connection_init`. If the caller is refused, the connection is closed with the reason. */
  async #greet({ extra: connection, connectionParams = {} }: Client): Promise<boolean> {
    const { origin } = connection;
    const sent = headersOf(connectionParams);
    const caller = createLiveCaller(this.#services.callers, {
      authorization: textOf(sent, 'authorization') ?? origin.authorization,
      askedDomain: textOf(sent, 'x-domain') ?? origin.askedDomain,
      requestId: origin.requestId,
      address: origin.address,
    });
    try {
      const { principal, domain } = await caller.scope();
      const name = callerName(principal);
      const others = [...this.#connections].filter(({ user }) => user && callerName(user) === name).length;
      const { liveConnectionsPerCredential: most } = this.#surroundings.config;
      if (others >= most) {
        connection.close(CLOSE.tooMany, `A user has at most ${most} connections`);
        return false;
      }
      connection.caller = caller;
      connection.user = principal;
      connection.principal = `${domain.id}/${principal.id}`;
      return true;
    } catch (error) {
      this.#refuse(connection, error);
      return false;
    }
  }

  async #prepare(
    { extra: connection, subscriptions }: Client,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { served, registered, operations, config } = this.#surroundings;
    try {
      const context = await this.#contextOf(connection);
      const most = config.liveSubscriptionsPerConnection;
      if (Object.keys(subscriptions).length > most) {
        throw new ServiceError(
          'LIMIT_EXCEEDED',
          `A connection has at most ${most} subscriptions at once (LIVE_SUBSCRIPTIONS_PER_CONNECTION).`,
        );
      }
      const text = registered?.getText(payload) ?? payload.query;
      const prepared = served().prepare(text, payload.operationName ?? undefined);
      const { schema, document, operation } = prepared;
      const variables = payload.variables ?? {};
      assertSubscription(operation);
      assertPermitted({ prepared, variables, context }, operations);
      noteUsedFields({ prepared, variables, context }, operations.fieldMeter);
      return {
        schema,
        document,
        contextValue: context,
        variableValues: variables,
        operationName: operation.name?.value,
      };
    } catch (error) {
      return [toGraphqlError(error)];
    }
  }

  async #contextOf(connection: LiveConnection): Promise<LiveContext> {
    const { caller, origin } = connection;
    if (!caller) throw new Error('a subscription before its connection was acknowledged');
    const scope = await caller.scope();
    if (connection.rate !== undefined) assertWithinRate(connection.rate);
    return {
      ...this.#sources,
      scope,
      caller,
      requestId: origin.requestId,
      address: origin.address,
      askedDomain: origin.askedDomain,
      idempotencyKey: undefined,
      signal: NEVER,
      openQueue: (info: GraphQLResolveInfo) => {
        const queue = new EventQueue(connection, String(info.path.key));
        connection.adopt(queue);
        return queue;
      },
    };
  }

  /** Formats errors as `/graphql` does. */
  async #format(connection: LiveConnection, errors: readonly GraphQLError[]) {
    const { operations, served } = this.#surroundings;
    const { requestId } = connection.origin;
    const formatted = errors.map((error) => {
      if (isFault(error)) operations.onFault(error.originalError ?? error, requestId);
      const one = formatGraphqlError(error.toJSON(), error);
      return { ...one, extensions: { ...one.extensions, requestId } };
    });
    // Only the suggested names depend on the caller.
    if (!formatted.some(({ message }) => message.includes('Did you mean'))) return formatted;
    const context = await this.#contextOf(connection);
    return formatted.map((error) => finishError(error, context, served()));
  }

  #checkAll(): void {
    for (const connection of this.#connections) {
      connection.caller?.scope().catch((error: unknown) => {
        if (isRefusal(error)) this.#refuse(connection, error);
      });
    }
  }

  #refuse(connection: LiveConnection, error: unknown): void {
    if (!(error instanceof ServiceError)) {
      this.#surroundings.operations.onFault(error, connection.origin.requestId);
      connection.close(CLOSE.tryAgainLater, 'Internal server error');
    } else if (error.status >= 500) connection.close(CLOSE.tryAgainLater, error.message);
    else if (connection.caller) connection.close(CLOSE.forbidden, error.message);
    else connection.close(error.status === 401 ? CLOSE.unauthorized : CLOSE.forbidden, error.message);
  }
}

/**
 * Subscriptions need no abort signal of their own: their queue ends them. All their statements share this
 * one.
 */
const NEVER = shareWithAll(new AbortController().signal);

function assertSubscription({ operation: type }: OperationDefinitionNode): void {
  if (type === OperationTypeNode.SUBSCRIPTION) return;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    `Send a ${type} by POST /graphql as JSON; WebSockets and Server-Sent Events are for subscriptions.`,
  );
}

function toGraphqlError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const known =
    error instanceof RangeError
      ? new ServiceError('MALFORMED_REQUEST', 'The document or its variables are nested too deeply.', {
          cause: error,
        })
      : error;
  const original = known instanceof Error ? known : new Error(String(known));
  return new GraphQLError(original.message, { originalError: original });
}

/** The headers of a caller: the parameters, their `headers`, or a token, as other servers have it. */
function headersOf({ headers, token, authToken, ...own }: Readonly<Record<string, unknown>>) {
  const bare = token ?? authToken;
  return {
    ...(typeof bare === 'string' && { authorization: /^bearer /i.test(bare) ? bare : `Bearer ${bare}` }),
    ...(typeof headers === 'object' && headers),
    ...own,
  };
}

/** Reads a member regardless of case: clients write `Authorization` and `authorization`. */
function textOf(parameters: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const found = Object.entries(parameters).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}
