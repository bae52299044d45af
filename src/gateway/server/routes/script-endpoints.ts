/** Serves `/x/<name>`, the addresses of scripts. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import type { JsonObject } from '../../../base/json/json.js';
import { toAbortSignal } from '../../../base/model/end-signal.js';
import type { Domain } from '../../../base/model/scope.js';
import {
  type EndpointBody,
  endpointArguments,
  toEndpointAnswer,
} from '../../../services/scripting/library/endpoint-request.js';
import { ENDPOINT_METHODS } from '../../../services/scripting/library/script.js';
import type { ScriptRun, ScriptRuns, StartOptions } from '../../../services/scripting/library/script-runs.js';
import type { ScriptOutline, Scripts } from '../../../services/scripting/library/scripts.js';
import { queueKeyOf } from '../../../services/scripting/run-queues.js';
import type { Config } from '../../config/config.js';
import { requireScope } from '../../resolvers/request-context.js';
import { scriptFailed } from '../../resolvers/script-fields.js';
import { parseByType } from '../sending/body-parsing.js';

export interface ScriptEndpointServices {
  readonly scripts: Scripts;
  readonly scriptRuns: ScriptRuns;
  readonly domains: { find(id: string): Domain | undefined; top(): Domain | undefined };
}

interface EndpointGeneric {
  Params: { readonly name: string; readonly '*'?: string };
  Querystring: JsonObject;
  Body: EndpointBody | undefined;
}

/** The answer of a script is not a page of the gateway, so its content must not run as one. */
const ANSWER_HEADERS = { 'content-security-policy': "sandbox; default-src 'none'" };

const FAILED = new ServiceError('SCRIPT_FAILED', 'The script failed.');

export async function useScriptEndpoints(
  app: FastifyInstance,
  services: ScriptEndpointServices,
  config: Pick<Config, 'bodyMaxMembers'>,
): Promise<void> {
  await app.register(async (endpoints) => {
    endpoints.removeAllContentTypeParsers();
    endpoints.addContentTypeParser(
      '*',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, raw: Buffer): Promise<EndpointBody> => ({
        raw,
        parsed: raw.length === 0 ? undefined : await parseByType(raw, request, config),
      }),
    );
    for (const url of ['/x/:name', '/x/:name/*']) {
      endpoints.route<EndpointGeneric>({
        method: [...ENDPOINT_METHODS, 'HEAD'],
        url,
        config: { urgencyOf: () => 'script' },
        // This runs before a body is read.
        onRequest: async (request) => {
          findScript(services, request);
        },
        handler: async (request, reply) => {
          const run = await answerBy(services, request);
          if (run.error === undefined) return send(reply, run);
          // The reason may name roles, fields, hosts and data. Callers without a credential get none of them;
          // the run, with the same request id, has it.
          throw request.requestContext.scope === undefined ? FAILED : scriptFailed(run);
        },
      });
    }
  });
}

async function answerBy(
  services: ScriptEndpointServices,
  request: FastifyRequest<EndpointGeneric>,
): Promise<ScriptRun> {
  const { scope } = request.requestContext;
  const { name } = request.params;
  const { domain, script } = findScript(services, request);
  // Scripts have a queue of their own.
  request.lifecycle.releasePermit();
  const args = endpointArguments(
    {
      method: methodOf(request),
      path: request.params['*'] ?? '',
      query: request.query,
      headers: request.headers,
      body: request.body,
      address: request.requestContext.address,
    },
    scope,
  );
  const assertUsable: StartOptions['assertUsable'] = (value) => toEndpointAnswer(name, value);
  if (script.endpoint?.access === 'caller') {
    const caller = requireScope(request.requestContext);
    return await services.scriptRuns.call(caller, name, { cause: 'endpoint', arguments: args, assertUsable });
  }
  const run = await services.scriptRuns.runAsService(domain, name, {
    cause: 'endpoint',
    assertUsable,
    requestId: request.requestContext.requestId,
    argumentsFor: async () => args,
    signal: toAbortSignal(request.requestContext.signal),
    queueKey:
      scope === undefined ? { tenant: domain.id, caller: request.requestContext.address } : queueKeyOf(scope),
  });
  if (run === undefined) throw new ServiceError('NOT_FOUND', `There is nothing at /x/${name}.`);
  return run;
}

/**
 * @throws NOT_FOUND (404), METHOD_NOT_ALLOWED (405), UNAUTHENTICATED (401) where the script runs as its
 * caller
 */
function findScript(
  services: ScriptEndpointServices,
  request: FastifyRequest<EndpointGeneric>,
): { readonly domain: Domain; readonly script: ScriptOutline } {
  const { scope, askedDomain } = request.requestContext;
  const { name } = request.params;
  const domain = scope?.domain ?? publicDomain(services, askedDomain);
  const script = services.scripts.findEndpoint(domain.id, name);
  if (script === undefined) throw new ServiceError('NOT_FOUND', `There is nothing at /x/${name}.`);
  assertMethod(script, methodOf(request));
  if (script.endpoint?.access === 'caller') requireScope(request.requestContext);
  return { domain, script };
}

/** The domain of a caller without a credential: that of the header `X-Domain`, else the top domain. */
function publicDomain({ domains }: ScriptEndpointServices, header: string | undefined): Domain {
  const domain = header === undefined ? domains.top() : domains.find(header);
  if (domain === undefined) throw new ServiceError('NOT_FOUND', 'There is no such domain.');
  return domain;
}

/** HEAD is answered as GET is, without the body. */
function methodOf({ method }: Pick<FastifyRequest, 'method'>): string {
  return method === 'HEAD' ? 'GET' : method;
}

function assertMethod({ name, endpoint }: ScriptOutline, method: string): void {
  const allow: readonly string[] = endpoint?.methods ?? [];
  if (allow.includes(method)) return;
  throw new ServiceError('METHOD_NOT_ALLOWED', `/x/${name} answers ${allow.join(', ')}.`, { allow });
}

function send(reply: FastifyReply, run: ScriptRun): FastifyReply {
  const { status, headers, body } = toEndpointAnswer(run.script, run.value);
  return reply
    .code(status)
    .headers({ ...ANSWER_HEADERS, ...headers })
    .send(body === '' ? undefined : body);
}
