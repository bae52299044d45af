/**
 * What a script of Campus Gateway finds, for editors and for `tsc`: the global `platform`, `console` and `args`.
 *
 * A script is an ES module (ES2023, top-level `await`). Its result is its default export; a function there is called with `args`, and a
 * promise is awaited:
 *
 * ```js
 * export default async ({ class: name }) => {
 *   console.log('looking at class', name);
 *   return { name };
 * };
 * ```
 *
 * Functions of `platform` do their work before they return. Those that give a value give it at once, and `await` changes nothing; those
 * of `platform.db` give a promise. Every one of them takes a function as its last argument instead, and calls it with `(error, result)`
 * once the code that is running has come to its end. What goes in and out is JSON: dates become texts, a regular expression becomes
 * `{ $regex, $options }`, and `undefined`, `NaN`, functions and BigInts inside arguments are refused rather than lost.
 *
 * A refusal is thrown as a `PlatformError`. There are no timers, no modules to import and no network but `platform.request`.
 */

// biome-ignore lint/suspicious/noExplicitAny: JSON a script looks into without asking first
type Json = any;

/** A refusal: what was wrong, where, what would be right. The codes are those of the HTTP interface. */
interface PlatformError extends Error {
  readonly name: 'ServiceError';
  /** `FORBIDDEN`, `NOT_FOUND`, `INVALID_VALUE`, `LIMIT_EXCEEDED`, … */
  readonly code: string;
  /** As HTTP would answer it, e.g. 403. */
  readonly status: number;
  readonly errors?: readonly {
    readonly detail: string;
    readonly parameter?: string;
    readonly pointer?: string;
    readonly expected?: string;
    readonly sent?: Json;
  }[];
}

/** The last argument of a call, in place of its result. */
type PlatformCallback<Result> = (error: PlatformError | null, result: Result) => void;

interface RequestOptions {
  /** Default `GET`. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Record<string, string | number | boolean>;
  /** Added to those of the URL; a list gives its name several times. */
  query?: Record<string, string | number | boolean | readonly (string | number | boolean)[]>;
  /** The body as JSON. One of `json`, `form` and `body`. */
  json?: Json;
  /** The body as a form, `application/x-www-form-urlencoded`. */
  form?: Record<string, string | number | boolean | readonly (string | number | boolean)[]>;
  /** The body as it is, `text/plain` unless a header says otherwise. */
  body?: string;
  /** For one attempt, redirects included. Default 10,000; the setting SCRIPT_REQUEST_TIMEOUT_MS is the most. */
  timeoutMs?: number;
  /** How often to try again when there is no answer, or 408, 425, 429, 500, 502, 503 or 504; waits longer each time. Default 0, at most 5. */
  retries?: number;
  /** `return` gives a redirect as the answer. Default `follow`, five at most. */
  redirects?: 'follow' | 'return';
  /** How `body` is read. Default `auto`: as JSON if the answer says it is, else as text. */
  answer?: 'auto' | 'json' | 'text' | 'base64';
}

interface RequestAnswer {
  readonly status: number;
  /** The status is one of 200 to 299. */
  readonly ok: boolean;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Record<string, string>;
  readonly body: Json;
}

interface PlatformDomain {
  readonly id: string;
  readonly name: string;
  /** An IANA name, e.g. `Asia/Kolkata`; the local time of `Date` is of this zone. */
  readonly timeZone: string;
  readonly isTop: boolean;
}

interface TokenClaims {
  /** Some of one's own roles. Default: all of them. */
  roles?: string[];
  /** As the scopes of an API key. Default: all records, reports and scripts. A member that is absent allows nothing. */
  scopes?: {
    collections?: Record<string, ('read' | 'create' | 'update' | 'delete' | '*')[]>;
    reports?: string[];
    scripts?: string[];
  };
  /** 1 to 3,600. Default 300. */
  expiresInSeconds?: number;
}

interface Platform {
  /**
   * Prints a line, which whoever started the script sees. Anything but text is printed as JSON. `console.log` does the same.
   *
   * ```js
   * platform.print('sent', 3, { to: ['5 A', '5 B'] });
   * ```
   */
  print(...values: unknown[]): void;

  /**
   * Sends an HTTP request and waits for the answer. Any status is an answer; what is thrown is that there is none (`UNAVAILABLE`), that it
   * is too large (`LIMIT_EXCEEDED`), or that the address is not one of the public internet (`FORBIDDEN`), here or in a redirect.
   *
   * ```js
   * const { ok, status, body } = platform.request('https://api.bank.example/payments', {
   *   method: 'POST',
   *   headers: { authorization: `Bearer ${platform.decrypt(args.bankKey)}` },
   *   json: { since: '2026-04-01' },
   *   retries: 2,
   * });
   * if (!ok) throw new Error(`the bank answered ${status}`);
   * export default body.payments.length;
   * ```
   */
  request(url: string, options?: RequestOptions): RequestAnswer;
  request(url: string, callback: PlatformCallback<RequestAnswer>): void;
  request(url: string, options: RequestOptions, callback: PlatformCallback<RequestAnswer>): void;

  /**
   * The domains of the instance, the top domain first: all of them for an admin of the top domain, for others their own.
   *
   * ```js
   * export default platform.domains().map((domain) => domain.name);
   * ```
   */
  domains(callback?: PlatformCallback<PlatformDomain[]>): PlatformDomain[];

  /**
   * Whether a domain, by default the script's own, is the top domain.
   *
   * ```js
   * if (!platform.isTopDomain()) throw new Error('run this at the head office');
   * ```
   */
  isTopDomain(domain?: string, callback?: PlatformCallback<boolean>): boolean;

  /**
   * Encrypts a text (AES-256-GCM), so that only scripts of this domain can read it again: for what must be kept and not be seen, such as the
   * key of a bank.
   *
   * ```js
   * export default platform.encrypt(args.bankKey);
   * ```
   */
  encrypt(text: string, callback?: PlatformCallback<string>): string;

  /**
   * The text that `encrypt` was given. `INVALID_VALUE` when it was changed in any place, or encrypted in another domain.
   *
   * ```js
   * const key = platform.decrypt(args.encryptedKey);
   * platform.print('the key has', key.length, 'characters');
   * ```
   */
  decrypt(encrypted: string, callback?: PlatformCallback<string>): string;

  /**
   * Publishes a message to a topic of the domain: subscribers of `topic(name)` in GraphQL get it, and scripts that a topic starts.
   *
   * ```js
   * platform.publish('notices', { title: 'School is closed tomorrow' });
   * ```
   */
  publish(topic: string, message: Json, callback?: PlatformCallback<undefined>): void;

  /**
   * Keeps a line to be looked at later (GraphQL `scriptLog`), with the script, the run and the user. It stays also when the run fails.
   * `data` is any JSON.
   *
   * ```js
   * platform.log('3 reminders were not sent', { level: 'warn', data: { receipts: ['R-1', 'R-7', 'R-9'] } });
   * ```
   */
  log(
    message: string,
    options?: { level?: 'debug' | 'info' | 'warn' | 'error'; data?: Json },
    callback?: PlatformCallback<undefined>,
  ): void;

  /**
   * A property of the domain, or of the top domain where this one has none; null where neither has. A secret is `********`. For admins.
   *
   * ```js
   * const offs = platform.property('weeklyOffs') ?? ['Sunday'];
   * export default offs.length;
   * ```
   */
  property(name: string, callback?: PlatformCallback<Json>): Json;

  /**
   * All properties in force, by name. Secrets are `********`. For admins.
   *
   * ```js
   * export default Object.keys(platform.properties());
   * ```
   */
  properties(callback?: PlatformCallback<Record<string, Json>>): Record<string, Json>;

  /**
   * Runs a stored script of the domain to its end and gives its result; what it throws is thrown here. It acts as the same user, unless it has
   * service roles. How deep scripts may start scripts is limited.
   *
   * ```js
   * const defaulters = platform.runScript('fee-defaulters', { month: '2026-04' });
   * export default defaulters.length;
   * ```
   */
  runScript(name: string, args?: Json, callback?: PlatformCallback<Json>): Json;

  /**
   * Whether a collection is one of the school's declared ones (`schema/collections`), rather than one that was registered at run time, or none.
   *
   * ```js
   * if (!platform.isEduCollection(args.collection)) throw new Error('not a collection of the school');
   * ```
   */
  isEduCollection(collection: string, callback?: PlatformCallback<boolean>): boolean;

  /**
   * Signs an access token with a part of one's own rights, for five minutes or as said: to be handed to a page or a partner. It ends with the
   * session or API key the script runs by, and with any right its user loses.
   *
   * ```js
   * const { token } = platform.signToken({ scopes: { collections: { result: ['read'] } }, expiresInSeconds: 600 });
   * export default { url: `https://school.example/results?token=${token}` };
   * ```
   */
  signToken(claims?: TokenClaims, callback?: PlatformCallback<SignedToken>): SignedToken;
}

interface SignedToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly roles: string[];
}

declare const platform: Platform;

/** What the script was started with: any JSON. */
declare const args: Json;

/** Prints like `platform.print`, with a level. */
declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  trace(...values: unknown[]): void;
};
