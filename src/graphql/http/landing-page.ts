/**
 * The page of `/graphql` in a browser: Apollo Sandbox, which is loaded from the internet, and a link to
 * `/explore`, which is not.
 */
import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import type { GraphqlRequest } from '../operation/graphql-request.js';

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

/** Shown above the page; without internet it is the only content. */
const WAY_TO_EXPLORE = `<p style="position: fixed; bottom: 0; left: 0; z-index: 10; margin: 0; padding: 6px 12px;
  font: 14px system-ui, sans-serif; color: #1b2240; background: #f4f6fb; border-top-right-radius: 6px;">
This page is Apollo Sandbox and needs the internet.
<a href="/explore" style="color: #1f4fd8;">/explore</a> is part of this gateway and works without.
</p>`;

export function landingPagePlugin(): ApolloServerPlugin<GraphqlRequest> {
  const sandbox: ApolloServerPlugin<GraphqlRequest> = ApolloServerPluginLandingPageLocalDefault({
    footer: false,
    embed: { runTelemetry: false, initialState: { pollForSchemaUpdates: false } },
    document: FIRST_DOCUMENT,
  });
  return {
    async serverWillStart(service) {
      const listener = await sandbox.serverWillStart?.(service);
      return {
        async renderLandingPage() {
          const page = await listener?.renderLandingPage?.();
          const html = typeof page?.html === 'function' ? await page.html() : (page?.html ?? '');
          return { html: withWayToExplore(html) };
        },
      };
    },
  };
}

function withWayToExplore(html: string): string {
  const end = html.lastIndexOf('</body>');
  return end === -1 ? html + WAY_TO_EXPLORE : html.slice(0, end) + WAY_TO_EXPLORE + html.slice(end);
}
