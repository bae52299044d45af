/** Serves agents at `/mcp`: one message of the Model Context Protocol per request, each with a credential. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { sendText } from '../../../base/http/text-answer.js';
import type { AgentEndpoint } from '../../agents/agent-endpoint.js';
import type { Config } from '../../config/config.js';
import { parseRequestBody } from '../../graphql/http/serve-graphql.js';
import { requireScope } from '../../resolvers/request-context.js';
import { createNegotiation } from '../../rest/negotiation.js';
import { bodyShapeFor } from '../admission/body-admission.js';

export interface AgentServingOptions {
  readonly endpoint: AgentEndpoint;
  readonly config: Pick<Config, 'bodyMaxMembers'>;
  /** Origins of pages that may call, in addition to those of this machine. `*`: any. */
  readonly origins: readonly string[];
  /** How clients get a token of the identity provider. Absent: none is configured. */
  readonly access: { readonly metadata: object; readonly publicUrl: string } | undefined;
}

const PATH = '/mcp';
/** @see RFC 9728, 3.1: the path of the resource comes after it. */
const METADATA_PATH = '/.well-known/oauth-protected-resource';
const negotiate = createNegotiation(['json']);

/** Serves `/mcp` in a Fastify scope of its own, which accepts only JSON bodies. */
export async function useAgents(app: FastifyInstance, options: AgentServingOptions): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) =>
      parseRequestBody(body, bodyShapeFor(request, options.config)),
  );
  app.route({
    // GET would open a stream of notifications and DELETE end a session; we have neither.
    method: 'POST',
    url: PATH,
    config: { body: 'operations', takesProviderTokens: true },
    // Checks the caller before the body is read.
    onRequest: async ({ requestContext, headers }) => {
      assertOrigin(headers.origin, options.origins);
      requireScope(requestContext);
    },
    handler: async (request, reply) => {
      const { requestContext: context, lifecycle, body } = request;
      negotiate(request.headers.accept);
      const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, `${value}`]));
      // We answer in JSON only, so a client need not accept streams too.
      headers.set('accept', 'application/json, text/event-stream');
      const answer = await options.endpoint.answer({ context, notes: lifecycle.notes }, { headers, body });
      const text = await answer.text();
      if (text === '') return reply.code(answer.status).send();
      const mediaType = answer.headers.get('content-type') ?? 'application/json';
      return sendText(reply, { status: answer.status, mediaType, text });
    },
  });
  if (options.access) offerProviderTokens(app, options.access);
}

/** Clients find the provider by a refused request (RFC 9728, 5.1), or by the well-known path. */
function offerProviderTokens(
  app: FastifyInstance,
  { metadata, publicUrl }: NonNullable<AgentServingOptions['access']>,
): void {
  app.addHook('onSend', async (_request, reply) => {
    const header = reply.getHeader('www-authenticate');
    if (header !== undefined)
      reply.header('www-authenticate', `${header}, resource_metadata="${publicUrl}${METADATA_PATH}${PATH}"`);
  });
  for (const url of [METADATA_PATH, METADATA_PATH + PATH]) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      // Pages of others may read it, too.
      handler: async (_request, reply) =>
        sendText(reply.header('access-control-allow-origin', '*'), {
          ...{ status: 200, mediaType: 'application/json; charset=utf-8' },
          text: JSON.stringify(metadata),
        }),
    });
  }
}

const LOCAL = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/**
 * Guards against DNS rebinding: a page whose host name resolves to our address sends an origin of its own.
 * Programs send none.
 *
 * @throws FORBIDDEN
 */
function assertOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || LOCAL.test(origin)) return;
  if (allowed.includes('*') || allowed.includes(origin)) return;
  throw new ServiceError(
    'FORBIDDEN',
    'Pages of this origin may not call this address; CORS_ORIGINS and PUBLIC_URL list those that may.',
  );
}
