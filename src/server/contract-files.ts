/**
 * The contract to download, with the address of this gateway: `/openapi.json`, the Postman collection
 * `/postman.json`, and `/.graphqlrc` for GraphQL tools. With a credential they describe what its caller may
 * use.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { compressWhole, contentEncodingFor } from '../content-encoding.js';
import { encodedEtag, etagHeld, etagOf, isUnchanged } from '../etag.js';
import type { CallerContracts } from '../rest/caller-contracts.js';

const MEDIA_TYPE = 'application/json; charset=utf-8';

export interface ContractFilesOptions {
  readonly contracts: CallerContracts;
  /** The public address of the gateway. Absent: the address of each request. */
  readonly publicUrl: string | undefined;
}

type PrintContract = (request: FastifyRequest, server: string) => string;

export function useContractFiles(app: FastifyInstance, { contracts, publicUrl }: ContractFilesOptions): void {
  const files: Readonly<Record<string, PrintContract>> = {
    '/openapi.json': ({ requestContext }, server) => contracts.openapi(requestContext, server),
    '/postman.json': ({ requestContext }, server) => contracts.postman(requestContext, server),
    '/.graphqlrc': (_request, server) => printGraphqlConfig(server),
  };
  for (const [url, print] of Object.entries(files)) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        const text = print(request, addressOf(request, publicUrl));
        const etag = etagOf(MEDIA_TYPE, text);
        // The answer depends on the caller and on the host name, so caches must not share it.
        reply.headers({ 'cache-control': 'private, no-cache', vary: 'Accept-Encoding, Authorization' });
        const known = request.headers['if-none-match'];
        if (isUnchanged(known, etag)) return reply.code(304).header('etag', etagHeld(known, etag)).send();
        reply.type(MEDIA_TYPE);
        const encoding = contentEncodingFor(String(request.headers['accept-encoding'] ?? ''), {
          mediaType: MEDIA_TYPE,
          bytes: text.length,
        });
        if (encoding === undefined) return reply.header('etag', etag).send(text);
        reply.headers({ 'content-encoding': encoding, etag: encodedEtag(etag, encoding) });
        return reply.send(await compressWhole(text, encoding));
      },
    });
  }
}

/** Without a trailing slash. With a malformed `Host`, paths stay relative. */
function addressOf({ protocol, host }: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  const address = `${protocol}://${host}`;
  return URL.canParse(address) && new URL(address).origin === address.toLowerCase() ? address : '';
}

/** The tools substitute their environment variable. */
const TOKEN = '$' + '{CAMPUS_TOKEN}';

/** @see https://the-guild.dev/graphql/config/docs */
function printGraphqlConfig(server: string): string {
  const config = {
    schema: [{ [`${server}/graphql`]: { headers: { Authorization: `Bearer ${TOKEN}` } } }],
    documents: ['src/**/*.{graphql,js,ts,jsx,tsx}'],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
