/** The security headers of every answer. @see OWASP REST Security Cheat Sheet, "Security Headers" */

export type SecurityHeaders = Readonly<Record<string, string>>;

/**
 * The headers only of answers over TLS: a browser that received them over plain HTTP on the local network
 * could not return there.
 */
export const TLS_HEADERS: SecurityHeaders = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
};

/** The headers of JSON: nothing in it is ever to be run or framed. */
export const API_HEADERS: SecurityHeaders = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * The headers of `/files/<id>`, which may hold anything: were it a page, it runs no script, sends no form and
 * is of no origin. Pictures may be shown in pages.
 */
export const FILE_HEADERS: SecurityHeaders = {
  ...API_HEADERS,
  'content-security-policy':
    "default-src 'none';img-src 'self' data:;media-src 'self';style-src 'unsafe-inline';" +
    "frame-ancestors 'self';sandbox",
  'x-frame-options': 'SAMEORIGIN',
};

/** Headers that only pages use: left out of JSON, where a dozen headers would cost more than the record. */
const PAGE_HEADERS: SecurityHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};
const CLOSED = "base-uri 'none';form-action 'none';frame-ancestors 'none'";

/** The headers of `/graphql` in a browser: a page of links, which runs no script. */
export const LANDING_HEADERS: SecurityHeaders = {
  'content-security-policy': `default-src 'none';style-src 'unsafe-inline';${CLOSED}`,
  ...PAGE_HEADERS,
};

/** The headers of a page of ours, which loads only our own scripts; `policy` is the rest of its policy. */
function pageHeaders(policy: string): SecurityHeaders {
  return {
    'content-security-policy': `default-src 'none';script-src 'self';${policy};connect-src 'self';${CLOSED}`,
    ...PAGE_HEADERS,
  };
}

/**
 * The headers of `/docs`: scripts and styles of our own only. Swagger UI sets styles on elements and draws
 * its icons from data: addresses.
 */
export const DOCUMENTATION_HEADERS = pageHeaders(
  "style-src 'self' 'unsafe-inline';img-src 'self' data:;font-src 'self'",
);

/** The headers of `/manual`: pages of our own, with nothing inline. */
export const MANUAL_HEADERS = pageHeaders("style-src 'self';img-src 'self'");

/**
 * The headers of `/explore`: those of `/docs`, and the web workers of the editor; GraphiQL's styles hold its
 * fonts as data: addresses.
 */
export const EXPLORER_HEADERS = pageHeaders(
  "worker-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data:;font-src 'self' data:",
);

/**
 * The headers of a page of the portal: scripts of our own files only, and of styles those too that carry the
 * nonce of this answer, as the components write them for the theme and for widths.
 */
export function portalHeaders(nonce: string): SecurityHeaders {
  return pageHeaders(`style-src 'self' 'nonce-${nonce}';img-src 'self' data: blob:;font-src 'self'`);
}
