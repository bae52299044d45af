/**
 * Answers a message of the Model Context Protocol over HTTP. There are no sessions: each request carries its
 * credential, is answered as a whole, and leaves no state. Long-lived streams of notifications are not
 * offered.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  type RequestTypeMap,
  type ResultTypeMap,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { ServiceError } from '../../base/errors.js';
import { toAbortSignal } from '../../base/model/end-signal.js';
import type { GraphqlCaller } from '../graphql/operation/prepared-operation.js';
import { requireScope } from '../resolvers/request-context.js';
import type { AgentPrompts } from './agent-prompts.js';
import {
  type AgentAnswers,
  ANSWERED_METHODS,
  type AnsweredMethod,
  createAgentServer,
} from './agent-server.js';
import { noteFault } from './agent-tool.js';
import type { AgentTools } from './agent-tools.js';

/** A message and the headers it came with. */
export interface AgentMessage {
  readonly headers: Headers;
  readonly body: unknown;
}

export interface AgentEndpointOptions {
  readonly tools: AgentTools;
  readonly prompts: AgentPrompts;
  /** Receives every fault of ours, with its request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

type AnswersOfMethods = {
  readonly [Method in AnsweredMethod]: (
    params: RequestTypeMap[Method]['params'],
  ) => Promise<ResultTypeMap[Method]>;
};

export class AgentEndpoint {
  readonly #options: AgentEndpointOptions;

  constructor(options: AgentEndpointOptions) {
    this.#options = options;
  }

  /**
   * Returns the answer as JSON, or none for a notification.
   *
   * @throws UNAUTHENTICATED; MALFORMED_REQUEST for a malformed message or a batch
   */
  async answer(caller: GraphqlCaller, { headers, body }: AgentMessage): Promise<Response> {
    requireScope(caller.context);
    const method = methodOf(body);
    caller.notes.operation = METHODS.has(method) ? `mcp ${method}` : 'mcp';
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
    const { tools, prompts } = this.#options;
    const answers: AnswersOfMethods = {
      'tools/list': async () => ({ tools: tools.listTools(caller) }),
      'tools/call': ({ name, arguments: sent = {} }) => tools.callTool(caller, name, sent),
      'resources/read': ({ uri }) => tools.readResource(caller, uri),
      'prompts/list': async () => ({ prompts: [...prompts.list(caller)] }),
      'prompts/get': async ({ name, arguments: sent = {} }) => prompts.get(caller, name, sent),
      'completion/complete': async ({ ref, argument }) => ({
        completion: await prompts.complete(caller, ref, argument),
      }),
    };
    return async (method, params) => await this.#answered(caller, () => answers[method](params));
  }

  /** Errors are returned with their GraphQL message and code; faults of ours are masked. */
  async #answered<Result>(caller: GraphqlCaller, answer: () => Promise<Result>): Promise<Result> {
    try {
      return await answer();
    } catch (error) {
      const { message, extensions } = noteFault(error, caller, this.#options.onFault);
      const { InternalError, InvalidParams } = ProtocolErrorCode;
      throw new ProtocolError(
        extensions.code === 'INTERNAL' ? InternalError : InvalidParams,
        message,
        extensions,
      );
    }
  }
}

/** The methods that the log distinguishes; callers can send any name. */
const METHODS: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'resources/list', 'resources/templates/list', ...ANSWERED_METHODS],
]);

/** @throws MALFORMED_REQUEST */
function methodOf(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'method' in body && typeof body.method === 'string') {
    return body.method;
  }
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'The body must be one message of JSON-RPC 2.0: {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}.',
  );
}

async function answerLegacy(server: Server, request: Request, body: unknown): Promise<Response> {
  // Without a session id generator there are no sessions.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}

/** Reads a streamed answer to its end; its size is limited. */
async function withoutStream(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  return new Response(text === '' ? null : text, { status, headers });
}
