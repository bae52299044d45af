/**
 * Takes the secret of a link from behind `#` and removes it from the address at once, so that neither the
 * history of the browser nor whoever looks at the screen has it. Other pages keep what is behind theirs.
 */
export function takeLinkToken(): string {
  if (!['/welcome', '/first-run'].includes(location.pathname)) return '';
  const token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  // Another link that is opened in the same tab changes nothing but this, and would not be taken otherwise.
  addEventListener('hashchange', () => location.reload());
  return token;
}
