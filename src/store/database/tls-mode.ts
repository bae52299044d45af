/** Whether a connection to the database uses TLS: `sslmode` in its address. */

/** With any mode but `disable` and `no-verify` the certificate and the name of the server are verified. */
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
