/**
 * The contract to download, with the address of this gateway: `/openapi.json`, and `/.graphqlrc` for
 * GraphQL tools. With a credential it describes what the caller may use.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { etagOf } from '../../../base/http/etag.js';
import type { CallerContracts, ContractText } from '../../rest/caller-contracts.js';
import { sendIfChanged } from '../sending/send-built-file.js';

const MEDIA_TYPE = 'application/json; charset=utf-8';

export interface ContractFilesOptions {
  readonly contracts: CallerContracts;
  /** The public address of the gateway. Absent: the address of each request. */
  readonly publicUrl: string | undefined;
}

export function useContractFiles(app: FastifyInstance, { contracts, publicUrl }: ContractFilesOptions): void {
  const files = {
    '/openapi.json': (request: FastifyRequest, server: string) =>
      contracts.openapi(request.requestContext, server),
    '/.graphqlrc': (_request: FastifyRequest, server: string) => printGraphqlConfig(server),
  };
  for (const [url, find] of Object.entries(files)) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        const contract = find(request, gatewayAddress(request, publicUrl));
        // The answer depends on the caller and on the host name, so caches must not share it.
        reply.headers({ 'cache-control': 'private, no-cache', vary: 'Accept-Encoding, Authorization' });
        return sendIfChanged(request, reply, { ...contract, mediaType: MEDIA_TYPE });
      },
    });
  }
}

/** Without a trailing slash. With a malformed `Host`, paths stay relative. */
export function gatewayAddress({ protocol, host }: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  const address = `${protocol}://${host}`;
  return URL.canParse(address) && new URL(address).origin === address.toLowerCase() ? address : '';
}

/** The tools substitute their environment variable. */
const TOKEN = '$' + '{CAMPUS_TOKEN}';

/** @see https://the-guild.dev/graphql/config/docs */
function printGraphqlConfig(server: string): ContractText {
  const config = {
    schema: [{ [`${server}/graphql`]: { headers: { Authorization: `Bearer ${TOKEN}` } } }],
    documents: ['src/**/*.{graphql,js,ts,jsx,tsx}'],
  };
  const bytes = Buffer.from(`${JSON.stringify(config, undefined, 2)}\n`);
  return { etag: etagOf(MEDIA_TYPE, bytes), print: () => bytes };
}
