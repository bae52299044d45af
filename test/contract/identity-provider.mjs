/**
 * A provider of identities for tests, as a program: it prints its address, and says of everybody what it was
 * told last by `PUT /told`. It does not run in a realm of Jest, whose literals it takes for no plain objects.
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import Provider from 'oidc-provider';

const [redirectUri, clientSecret] = process.argv.slice(2);
let told = { claims: {}, amr: [] };

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'campus',
      client_secret: clientSecret,
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ['sub', 'amr'], email: ['email', 'email_verified'] },
  cookies: { keys: ['of the tests'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, ...told.claims }) }),
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({
      clientId: oidc.client.clientId,
      accountId: oidc.session.accountId,
    });
    grant.addOIDCScope('openid email');
    await grant.save();
    return grant;
  },
});

server.on('request', async (request, response) => {
  if (request.url === '/told') {
    told = await json(request);
    response.end();
  } else if (told.isAway) response.writeHead(503).end();
  else if (request.url.startsWith('/interaction/')) {
    // The log-in of the provider: nobody is asked for anything.
    const login = { accountId: 'somebody', amr: told.amr };
    await provider.interactionFinished(request, response, { login });
  } else provider.callback()(request, response);
});

console.log(issuer);
