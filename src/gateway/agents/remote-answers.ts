/** The answers of a gateway reached by HTTP, for `campus mcp`. */
import { isCallToolResult, isSpecType, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { AgentAnswers, AnsweredMethod } from './agent-server.js';

export interface RemoteGateway {
  /** E.g. `https://school.example`. */
  readonly url: string;
  /** An API key or access token. */
  readonly key: string;
  /** The sub-domain to act in; `undefined`: the credential's. */
  readonly domain: string | undefined;
  readonly fetch: typeof fetch;
}

const IS_RESULT = {
  'tools/list': isSpecType.ListToolsResult,
  'tools/call': isCallToolResult,
  'resources/read': isSpecType.ReadResourceResult,
  'prompts/list': isSpecType.ListPromptsResult,
  'prompts/get': isSpecType.GetPromptResult,
  'completion/complete': isSpecType.CompleteResult,
} satisfies Record<AnsweredMethod, (value: unknown) => boolean>;

export function createRemoteAnswers(gateway: RemoteGateway): AgentAnswers {
  return async (method, params) => {
    const result = await ask(gateway, method, params ?? {});
    return IS_RESULT[method](result) ? (result as never) : unreadable();
  };
}

/** @throws ProtocolError in the gateway's words, or that it cannot be reached */
async function ask({ url, key, domain, fetch }: RemoteGateway, method: string, params: object) {
  const answer = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json',
      ...(domain !== undefined && { 'x-domain': domain }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    redirect: 'error',
  }).catch((cause: unknown) => {
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      `The gateway at ${new URL(url).origin} cannot be reached (AGENT_GATEWAY).`,
      { code: 'UNAVAILABLE', status: 503, cause: cause instanceof Error ? cause.message : undefined },
    );
  });
  const body: unknown = await answer.json().catch(() => undefined);
  if (isMessage(body, 'result')) return body.result;
  if (isMessage(body, 'error') && isFault(body.error)) {
    const { code, message, data } = body.error;
    throw new ProtocolError(code, message, data);
  }
  throw toProblem(body, answer.status);
}

/** Problem details, with which the gateway refuses a request before reading it. */
function toProblem(body: unknown, status: number): ProtocolError {
  if (isMessage(body, 'detail') && isMessage(body, 'type')) {
    const code = String(body.type).split(':').at(-1);
    return new ProtocolError(ProtocolErrorCode.InternalError, String(body.detail), { code, status });
  }
  return new ProtocolError(ProtocolErrorCode.InternalError, `No gateway answers there (${status}).`);
}

function isMessage<Member extends string>(body: unknown, member: Member): body is Record<Member, unknown> {
  return typeof body === 'object' && body !== null && member in body;
}

function isFault(
  error: unknown,
): error is { readonly code: number; readonly message: string; readonly data?: unknown } {
  return (
    isMessage(error, 'code') &&
    typeof error.code === 'number' &&
    isMessage(error, 'message') &&
    typeof error.message === 'string'
  );
}

function unreadable(): never {
  throw new ProtocolError(ProtocolErrorCode.InternalError, 'The gateway answered what cannot be read.');
}
