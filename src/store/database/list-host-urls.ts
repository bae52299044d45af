/**
 * Splits the address of a database on several servers, one of which is the primary, as in libpq:
 *
 *   postgresql://user:password@one:5432,two:5433/campus?target_session_attrs=read-write
 *
 * node-postgres supports a single host, and `new URL` does not parse several.
 *
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 */
const ADDRESS = /^(?<start>postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?<hosts>[^/?]*)(?<rest>.*)$/s;
/** The gateway always looks for the server that accepts writes, with or without the parameter. */
const WANTED = /([?&])target_session_attrs=(?:any|read-write|primary|prefer-primary)(&|$)/;

/** One address per host, in the form of node-postgres, in their order. At least one. */
export function listHostUrls(url: string): readonly string[] {
  const { start = '', hosts = '', rest = '' } = ADDRESS.exec(url)?.groups ?? {};
  const names = hosts.split(',');
  const place = rest.replace(WANTED, (_, before: string, after: string) => (after === '' ? '' : before));
  if (names.length === 1) return [hosts === '' ? url : start + hosts + place];
  return names.map((name) => start + name + place);
}

const ENCODED_IN_PATH = /%(?:2F|3A|40|26|3D|2B|24|2C|3B)/gi;

/**
 * The same address with the name of the database as node-postgres understands it: it decodes everything but
 * the characters that separate the parts of an address.
 */
export function withPlainDatabaseName(url: string): string {
  const { start = '', hosts = '', rest = url } = ADDRESS.exec(url)?.groups ?? {};
  const [path = '', ...parameters] = rest.split('?');
  const plain = path.replace(ENCODED_IN_PATH, (encoded) => decodeURIComponent(encoded));
  return start + hosts + [plain, ...parameters].join('?');
}

/** False for a name that no address of node-postgres can contain. */
export function hasPossibleDatabaseName(url: string): boolean {
  const { rest = '' } = ADDRESS.exec(url)?.groups ?? {};
  return !/%(?:3F|23)/i.test(rest.split('?')[0] ?? '');
}

/** The host and port of an address for display, without user and password. */
export function serverNameOf(url: string): string {
  return ADDRESS.exec(url)?.groups?.hosts ?? '';
}
