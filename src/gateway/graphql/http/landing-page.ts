/**
 * The page of `/graphql` in a browser: ways to explorers. It runs no script. Apollo Sandbox is a link to
 * Apollo's own site: embedded here, its script would act in the origin that holds the session of the portal.
 */
import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphqlRequest } from '../operation/prepared-operation.js';

const STUDIO = 'https://studio.apollographql.com';

/** The document that Apollo Sandbox opens with. */
const FIRST_DOCUMENT = `# 1. Run this, with your user name and password.
# 2. Put the access token into the settings of the connection (top left), under shared headers:
#    Authorization: Bearer <accessToken>
# 3. The schema loads, and the documentation with it.
mutation Login {
  login(userName: "viewer", password: "demo-viewer") {
    accessToken
  }
}
`;

export interface LandingPageOptions {
  readonly publicUrl: string | undefined;
  readonly corsOrigins: readonly string[];
}

export function landingPagePlugin(options: LandingPageOptions): ApolloServerPlugin<GraphqlRequest> {
  const html = printPage(options);
  return {
    async serverWillStart() {
      return { renderLandingPage: async () => ({ html }) };
    },
  };
}

function printPage({ publicUrl, corsOrigins }: LandingPageOptions): string {
  const query = new URLSearchParams({ document: FIRST_DOCUMENT });
  if (publicUrl !== undefined) query.set('endpoint', `${publicUrl}/graphql`);
  const isLetIn = corsOrigins.includes(STUDIO) || corsOrigins.includes('*');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>GraphQL</title>
<style>
body { max-width: 42em; margin: 3em auto; padding: 0 1em; font: 16px/1.5 system-ui, sans-serif; }
:root { color-scheme: light dark; }
</style></head>
<body>
<h1>GraphQL endpoint</h1>
<p>Programs send <code>POST</code> requests here, with <code>Authorization: Bearer &lt;token&gt;</code>.</p>
<ul>
<li><a href="/explore">Explorer</a> (<code>/explore</code>): GraphiQL and the library of operations, part of
this gateway. It works without the internet.</li>
<li><a href="${STUDIO}/sandbox/explorer?${query.toString().replaceAll('&', '&amp;')}" rel="noreferrer"
target="_blank">Apollo Sandbox</a>, on Apollo's site${
    publicUrl === undefined ? ': enter the address of this page as its endpoint' : ''
  }.${
    isLetIn
      ? ''
      : ` Your browser lets it call this gateway once an operator has set
<code>CORS_ORIGINS=${STUDIO}</code>.`
  }</li>
</ul>
</body>
</html>
`;
}
