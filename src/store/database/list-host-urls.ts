/**
 * The addresses of one database on several servers, of which one is the primary, as libpq writes them:
 *
 *   postgresql://user:password@one:5432,two:5433/campus?target_session_attrs=read-write
 *
 * node-postgres knows one host, and `new URL` reads none with several.
 *
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 */
const ADDRESS = /^(?<start>postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?<hosts>[^/?]*)(?<rest>.*)$/s;
/** What a gateway wants of the servers is that one takes writes; it says so with or without the parameter. */
const WANTED = /([?&])target_session_attrs=(?:any|read-write|primary|prefer-primary)(&|$)/;

/** One address a host, each as node-postgres reads it, in the order they are written. At least one. */
export function listHostUrls(url: string): readonly string[] {
  const { start = '', hosts = '', rest = '' } = ADDRESS.exec(url)?.groups ?? {};
  const names = hosts.split(',');
  const place = rest.replace(WANTED, (_, before: string, after: string) => (after === '' ? '' : before));
  if (names.length === 1) return [hosts === '' ? url : start + hosts + place];
  return names.map((name) => start + name + place);
}

/** The host and port of an address, to be shown: no user, no password. */
export function serverNameOf(url: string): string {
  return ADDRESS.exec(url)?.groups?.hosts ?? '';
}
