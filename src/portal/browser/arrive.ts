/**
 * The first script of a page of the portal, of some hundred bytes: while the large one comes, it asks who is
 * logged in and has the texts of their language loaded. On a slow phone each of these questions takes as long
 * as a third of that script.
 */
import { PortalViewer } from '../../generated/portal/shell/viewer';
import { branchInAddress } from './branches/branch-in-address';
import { callerHeaders, GRAPHQL_HEADERS } from './gateway/graphql-headers';
import { preferredLanguage } from './language/preferred-language';

const session = fetch('/auth/browser/refresh', { method: 'POST' });
const viewer = askViewer();
// Who takes them tells what fails.
for (const asked of [session, viewer]) asked.catch(() => {});
globalThis.campusEarlyAnswers = { session, viewer };

const texts = document.createElement('link');
texts.rel = 'modulepreload';
texts.href = CATALOG_URLS[preferredLanguage()];
document.head.append(texts);

async function askViewer(): Promise<Response | undefined> {
  const answer = await session;
  if (answer.status !== 200) return undefined;
  prepareFormats();
  const { access_token: token }: { readonly access_token: string } = await answer.clone().json();
  return await fetch('/graphql', {
    method: 'POST',
    headers: { ...GRAPHQL_HEADERS, ...callerHeaders(token, branchInAddress()) },
    body: JSON.stringify({ query: PortalViewer.text, operationName: PortalViewer.name }),
  });
}

/**
 * The first formatter of each kind takes a phone a while, which it has before the next answer comes: later it
 * would hold up the page. Each has a task of its own.
 */
function prepareFormats(): void {
  setTimeout(() => {
    new Intl.DateTimeFormat('en-IN', { timeZone: 'Asia/Kolkata', dateStyle: 'medium' }).format();
  });
  setTimeout(() => {
    new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' }).format(0);
  });
}
