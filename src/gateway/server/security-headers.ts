/** The security headers of every answer, worked out once: helmet's depend on nothing in a request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet, { type HelmetOptions } from 'helmet';

export type SecurityHeaders = Readonly<Record<string, string>>;

/**
 * The headers of answers that go out over TLS alone: a browser that once heard it over plain HTTP at home
 * could not come back there.
 */
export const TLS_HEADERS: SecurityHeaders = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
};

/** Headers that only pages use: left out of JSON, where a dozen headers would cost more than the record. */
const FOR_PAGES_ALONE = {
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} as const;

/**
 * The headers of JSON: nothing in it is ever to be run or framed.
 * @see OWASP REST Security Cheat Sheet, "Security Headers"
 */
export const API_HEADERS: SecurityHeaders = headersBy({
  ...FOR_PAGES_ALONE,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xFrameOptions: { action: 'deny' },
});

/**
 * The headers of `/docs`: scripts and styles of our own only. Swagger UI sets styles on elements and draws
 * its icons from data: addresses.
 */
export const DOCUMENTATION_HEADERS: SecurityHeaders = pageHeaders({
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'"],
});

/** The headers of `/manual`: pages of our own, with nothing inline. */
export const MANUAL_HEADERS: SecurityHeaders = pageHeaders({
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
});

const NONCE = 'NONCE';

const PORTAL_HEADERS: SecurityHeaders = pageHeaders({
  styleSrc: ["'self'", `'nonce-${NONCE}'`],
  imgSrc: ["'self'", 'data:', 'blob:'],
  fontSrc: ["'self'"],
});

/**
 * The headers of a page of the portal: scripts of our own files only, and of styles those too that carry the
 * nonce of this answer, as the components write them for the theme and for widths.
 */
export function portalHeaders(nonce: string): SecurityHeaders {
  const policy = PORTAL_HEADERS['content-security-policy'] ?? '';
  return { ...PORTAL_HEADERS, 'content-security-policy': policy.replace(NONCE, nonce) };
}

/**
 * The headers of `/explore`: those of `/docs`, and the web workers of the editor; GraphiQL's styles hold its
 * fonts as data: addresses.
 */
export const EXPLORER_HEADERS: SecurityHeaders = pageHeaders({
  workerSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'", 'data:'],
});

/**
 * The headers of `/files/<id>`, which may hold anything: were it a page, it runs no script, sends no form and
 * is of no origin. Pictures may be shown in pages.
 */
export const FILE_HEADERS: SecurityHeaders = headersBy({
  ...FOR_PAGES_ALONE,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      imgSrc: ["'self'", 'data:'],
      mediaSrc: ["'self'"],
      styleSrc: ["'unsafe-inline'"],
      frameAncestors: ["'self'"],
      sandbox: [],
    },
  },
  xFrameOptions: { action: 'sameorigin' },
});

/** The headers of `/graphql` in a browser: a page of links, which runs no script. */
export const LANDING_HEADERS: SecurityHeaders = headersBy({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: ["'unsafe-inline'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
});

/** The headers of a page of ours, which loads our own scripts alone; the rest of its policy is given. */
function pageHeaders(policy: Readonly<Record<string, readonly string[]>>): SecurityHeaders {
  const own = { defaultSrc: ["'none'"], scriptSrc: ["'self'"] };
  const others = {
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  };
  return headersBy({
    contentSecurityPolicy: { useDefaults: false, directives: { ...own, ...policy, ...others } },
  });
}

/** Lets helmet write on a response that only takes notes. */
function headersBy(options: HelmetOptions): SecurityHeaders {
  const headers: Record<string, string> = {};
  const notes: Pick<ServerResponse, 'setHeader' | 'removeHeader'> = {
    setHeader(name: string, value: number | string | readonly string[]) {
      // The header belongs to TLS_HEADERS.
      if (name !== 'Strict-Transport-Security') headers[name.toLowerCase()] = String(value);
      return this as ServerResponse;
    },
    removeHeader() {},
  };
  helmet(options)({} as IncomingMessage, notes as ServerResponse, (error) => {
    if (error) throw error;
  });
  return headers;
}
