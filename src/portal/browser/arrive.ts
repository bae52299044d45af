/**
 * The first script of a page of the portal, a few hundred bytes. While the main script loads, it requests
 * the session and the viewer, and preloads the texts of the language. On a slow phone each of these requests
 * takes a third as long as that script.
 */
import { PortalViewer } from '../../generated/portal/shell/viewer';
import { preferredLanguage } from './language/preferred-language';
import { branchInAddress, callerHeaders, GRAPHQL_HEADERS } from './session/graphql-headers';

const session = fetch('/auth/browser/refresh', { method: 'POST' });
const viewer = askViewer();
// The code that awaits them handles their errors.
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
 * The first formatter of each kind takes a phone some time. It is created while the next answer is awaited,
 * because later it would block the page. Each is created in a task of its own. The collator, which nothing
 * here uses, goes before them: it loads half of what the formatter of numbers needs of the language.
 */
function prepareFormats(): void {
  setTimeout(() => {
    new Intl.Collator('en');
  });
  setTimeout(() => {
    new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' }).format(0);
  });
  setTimeout(() => {
    new Intl.DateTimeFormat('en-IN', { timeZone: 'Asia/Kolkata', dateStyle: 'medium' }).format();
  });
}
