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

/**
 * The modes of `sslmode` in the address of a database. With any but `disable` and `no-verify` the certificate
 * and the name of the server are verified.
 */
export const TLS_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

const MODE = /([?&]sslmode=)([^&]*)/;
/** node-postgres treats these as `verify-full`, and prints a warning of several lines about it. */
const VERIFIED_MODES: ReadonlySet<string> = new Set(['prefer', 'require', 'verify-ca']);

/** False for a misspelt mode, which node-postgres would take for `verify-full`. */
export function hasKnownTlsMode(url: string): boolean {
  const mode = MODE.exec(url)?.[2];
  return mode === undefined || TLS_MODES.some((known) => known === mode);
}

/**
 * The same address, its mode written as what node-postgres does: `verify-full` for `require`. With
 * `uselibpqcompat=true` the modes mean what they mean to libpq, and the address stays as it is.
 */
export function withExplicitTlsMode(url: string): string {
  if (/[?&]uselibpqcompat=true(?:&|$)/.test(url)) return url;
  return url.replace(MODE, (whole, before: string, mode: string) =>
    VERIFIED_MODES.has(mode) ? `${before}verify-full` : whole,
  );
}
