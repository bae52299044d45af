/**
 * A provider of identities for tests, as a program: it prints its address, and says of everybody what it was
 * told last by `PUT /told`: `claims` and `amr`, whether it asks for a password (`asks`), whether it is away
 * (`isAway`), whether its ID tokens are signed by somebody else (`isForged`), and whether it names no page
 * that ends a session (`hasNoEnd`). It does not run in a realm of Jest, whose literals it takes for no plain
 * objects.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { json, text } from 'node:stream/consumers';
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
      post_logout_redirect_uris: [new URL('/', redirectUri).href],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ['sub', 'amr'], email: ['email', 'email_verified'] },
  cookies: { keys: ['of the tests'] },
  extraTokenClaims: () => told.claims,
  features: {
    devInteractions: { enabled: false },
    // An access token for a named resource is a JSON Web Token (RFC 9068).
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, audience) => ({
        ...{ audience, scope: 'email', accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } },
      }),
      useGrantedResource: () => true,
    },
    rpInitiatedLogout: {
      // The page that comes with the provider loads letters from another host.
      logoutSource: (context, form) => {
        context.body =
          `<!doctype html><title>School ID</title>${form}` +
          '<button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>';
      },
    },
  },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, ...told.claims }) }),
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({
      clientId: oidc.client.clientId,
      accountId: oidc.session.accountId,
    });
    grant.addOIDCScope('openid email');
    if (oidc.params.resource !== undefined) grant.addResourceScope(oidc.params.resource, 'email');
    await grant.save();
    return grant;
  },
});

server.on('request', async (request, response) => {
  if (request.url === '/told') {
    told = await json(request);
    response.end();
  } else if (told.isAway) response.writeHead(503).end();
  else if (request.url === '/token' && told.isForged) {
    told = { ...told, isForged: false };
    const body = await text(request);
    const headers = { 'content-type': request.headers['content-type'] };
    const tokens = await (await fetch(issuer + request.url, { method: 'POST', headers, body })).json();
    const signed = tokens.id_token.split('.').slice(0, 2).join('.');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const signature = sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...tokens, id_token: `${signed}.${signature}` }));
  } else if (request.url === '/.well-known/openid-configuration' && told.hasNoEnd) {
    const { hasNoEnd, ...rest } = told;
    told = rest;
    const { end_session_endpoint: _, ...metadata } = await (await fetch(issuer + request.url)).json();
    told = { ...rest, hasNoEnd };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(metadata));
  } else if (request.url.startsWith('/interaction/') && told.asks && request.method === 'GET') {
    response.setHeader('content-type', 'text/html');
    response.end(
      '<!doctype html><title>School ID</title><form method="post"><label>Password of School ID ' +
        '<input type="password" name="password"></label><button>Go on</button></form>',
    );
  } else if (request.url.startsWith('/interaction/')) {
    // The log-in of the provider: whatever the password is, it is right.
    const login = { accountId: 'somebody', amr: told.amr };
    await provider.interactionFinished(request, response, { login });
  } else provider.callback()(request, response);
});

console.log(issuer);
