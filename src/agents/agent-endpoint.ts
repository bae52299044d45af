/**
 * Answers a message of the Model Context Protocol that came by HTTP. There are no sessions: each request
 * says by its credential who asks, is answered whole, and leaves nothing behind. What nobody may hold open
 * for long (a stream of notifications) is not offered.
 */

import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { ServiceError } from '../errors.js';
import type { GraphqlCaller } from '../graphql/operation/graphql-request.js';
import { toAbortSignal } from '../model/end-signal.js';
import { requireScope } from '../resolvers/request-context.js';
import type { AgentDesk } from './agent-desk.js';
import { type AgentAnswers, createAgentServer } from './agent-server.js';
import { toToldError } from './told-error.js';

/** A message and the headers it came with. */
export interface AgentMessage {
  readonly headers: Headers;
  readonly body: unknown;
}

export interface AgentEndpointOptions {
  readonly desk: AgentDesk;
  /** Hears of every fault of ours, with its request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

export class AgentEndpoint {
  readonly #options: AgentEndpointOptions;

  constructor(options: AgentEndpointOptions) {
    this.#options = options;
  }

  /**
   * Gives the answer as JSON, or none to a notification.
   *
   * @throws UNAUTHENTICATED; MALFORMED_REQUEST for what is no message, several in one included
   */
  async answer(caller: GraphqlCaller, { headers, body }: AgentMessage): Promise<Response> {
    requireScope(caller.context);
    const method = methodOf(body);
    caller.notes.noteOperation(METHODS.has(method) ? `mcp ${method}` : 'mcp');
    const request = new Request('http://gateway/mcp', {
      method: 'POST',
      headers,
      signal: toAbortSignal(caller.context.signal),
    });
    const createServer = () => createAgentServer(this.#answersFor(caller));
    const onerror = () => undefined;
    if (await isLegacyRequest(request, body)) return await answerLegacy(createServer(), request, body);
    const handler = createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0, onerror });
    try {
      return await withoutStream(await handler.fetch(request, { parsedBody: body }));
    } finally {
      await handler.close();
    }
  }

  #answersFor(caller: GraphqlCaller): AgentAnswers {
    const { desk } = this.#options;
    return {
      listTools: () =>
        this.#answered(caller, async () => ({ tools: desk.listTools(caller).map((tool) => ({ ...tool })) })),
      callTool: (name, sent) =>
        this.#answered(caller, async () => {
          const { texts, isError } = await desk.callTool(caller, name, sent);
          return { content: texts.map((text) => ({ type: 'text' as const, text })), isError };
        }),
      readResource: (uri) =>
        this.#answered(caller, async () => {
          const { text, mediaType } = await desk.readResource(caller, uri);
          return { contents: [{ uri, mimeType: mediaType, text }] };
        }),
    };
  }

  /** What is thrown leaves in the words and with the code it has in GraphQL; a fault of ours is masked. */
  async #answered<Result>({ context, notes }: GraphqlCaller, answer: () => Promise<Result>): Promise<Result> {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof ServiceError) notes.noteError(error.code);
      const { message, extensions } = toToldError(error);
      if (extensions?.code === 'INTERNAL') this.#options.onFault(error, context.requestId);
      const code = extensions?.code === 'INTERNAL' ? ProtocolErrorCode.InternalError : undefined;
      throw new ProtocolError(code ?? ProtocolErrorCode.InvalidParams, message, {
        ...extensions,
        requestId: context.requestId,
      });
    }
  }
}

/** The methods that are told apart in the log: a caller makes up names without end. */
const METHODS: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/read'],
  'resources/templates/list',
]);

/** @throws MALFORMED_REQUEST */
function methodOf(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'method' in body && typeof body.method === 'string') {
    return body.method;
  }
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'The body is to be one message of JSON-RPC 2.0: {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}.',
  );
}

async function answerLegacy(server: Server, request: Request, body: unknown): Promise<Response> {
  // Without a generator of ids there are no sessions.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}

/** Reads an answer that came as a stream to its end: it is a bounded one. */
async function withoutStream(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  return new Response(text === '' ? null : text, { status, headers });
}
