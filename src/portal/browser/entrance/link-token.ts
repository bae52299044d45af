/**
 * Reads the secret of a link after `#` and removes it from the address at once, so that it appears neither
 * in the history of the browser nor on the screen. Other pages keep their fragment.
 */
export function takeLinkToken(): string {
  if (!['/welcome', '/first-run'].includes(location.pathname)) return '';
  const token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  // Opening another link in the same tab changes only the fragment, which would not reload the page
  // otherwise.
  addEventListener('hashchange', () => location.reload());
  return token;
}
