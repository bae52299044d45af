/**
 * The script of `/docs`: Swagger UI, which sends requests as the user who is logged in to the portal in this
 * browser. Other visitors see the public documentation and may enter a credential.
 */
import SwaggerUIBundle from 'swagger-ui-dist/swagger-ui-bundle.js';
import { LoginSession } from './session/login-session';
import { showRoomAccount } from './session/show-room-account';

interface SwaggerRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
}

const session = new LoginSession();

followTheme();
new MutationObserver(completeMarkup).observe(document.body, { childList: true, subtree: true });
await session.resume();
showUser();
void showRoomAccount(session);
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#contract',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
  requestInterceptor: withCredential,
});

/** An entered credential takes precedence over the session. */
async function withCredential(request: SwaggerRequest): Promise<SwaggerRequest> {
  const isOurs = new URL(request.url, location.href).origin === location.origin;
  if (!isOurs || request.headers.Authorization !== undefined) return request;
  const token = await session.accessToken();
  if (token !== undefined) request.headers.Authorization = `Bearer ${token}`;
  return request;
}

function showUser(): void {
  const place = document.querySelector('.room-user');
  const state = session.state.get();
  if (!place) return;
  place.textContent =
    state.kind === 'loggedIn'
      ? `Requests are sent as ${state.user.userName}.`
      : 'You are not logged in: requests are sent without a credential, unless you enter one.';
}

/**
 * Swagger UI names no field, skips levels of headings, and lets no key scroll its examples. The list of error
 * codes would be the whole of a first screen.
 */
function completeMarkup(): void {
  const all = (selector: string) => document.querySelectorAll(`#contract :is(${selector})`);
  for (const field of all('select, input, textarea')) {
    const parameter = field.closest('tr')?.dataset.paramName ?? field.id;
    field.setAttribute('aria-label', parameter || 'Value');
  }
  for (const heading of all('h3, h4'))
    heading.setAttribute('aria-level', heading.closest('.opblock') ? '3' : '2');
  for (const example of all('pre.microlight')) example.setAttribute('tabindex', '0');
  for (const list of all('.info ul:not(details > *)'))
    list.outerHTML = `<details><summary>Error codes</summary>${list.outerHTML}</details>`;
}

/** Swagger UI has dark colours under a class. */
function followTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => {
    const { theme } = document.documentElement.dataset;
    const isDark = theme === undefined ? dark.matches : theme === 'dark';
    document.documentElement.classList.toggle('dark-mode', isDark);
  };
  dark.addEventListener('change', follow);
  follow();
}
