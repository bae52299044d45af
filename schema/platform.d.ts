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
 * once the code that is running has come to its end; the call then gives a promise that settles with that function. What goes in and out is JSON: dates become texts, a regular expression becomes
 * `{ $regex, $options }`, and `undefined`, `NaN`, functions and BigInts inside arguments are refused rather than lost.
 *
 * There is no `Intl`: `toLocaleString` and the like take no arguments, `platform.format` writes days, times and amounts. A member of `platform` that
 * does not exist throws when it is read.
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
  /** By lower-case name; `set-cookie` has each cookie by itself. */
  readonly headers: Record<string, string> & { readonly 'set-cookie': string[] };
  /** A text is read by the charset that the answer names. */
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

interface EmailRequest {
  to: string | string[];
  cc?: string | string[];
  bcc?: string | string[];
  replyTo?: string;
  subject?: string;
  text?: string;
  html?: string;
  /** The name of a template of the domain, filled in with `data`; texts are filled in too. */
  template?: string;
  /** A missing value is refused unless its placeholder has a default: `{{name|Parent}}`. */
  data?: Record<string, Json>;
  /** `content` in base64, or the id of a file. */
  attachments?: { name?: string; contentType?: string; content?: string; fileId?: string }[];
  /** The same key again is the same message: it is not sent twice. */
  key?: string;
}

type ReportParameters = Record<string, string | number | boolean | null>;

/** All of a report. */
interface ReportAnswer {
  readonly report: string;
  /** As they were understood, with what was left out. */
  readonly parameters: Record<string, Json>;
  readonly generatedAt: string;
  readonly rows: Record<string, Json>[];
  readonly totals: Record<string, Json>;
  readonly warnings: Record<string, Json>[];
  [member: string]: Json;
}

/** An attachment of an email. */
interface ReportFile {
  readonly name: string;
  readonly contentType: string;
  /** In base64. */
  readonly content: string;
}

interface SmsRequest {
  to: string | string[];
  text: string;
  /** A missing value is refused unless its placeholder has a default: `{{name|Parent}}`. */
  data?: Record<string, Json>;
  template?: string;
  category?: string;
  /** Whom it is for, a reference: `{ value: 'stu-00001' }`. */
  recipient?: Json;
  batch?: string;
  /** The same key again is the same message: it is not sent twice. */
  key?: string;
}

interface SentMessage {
  readonly id: string;
  /** `queued`, or `kept` where there is nothing to send it by yet. */
  readonly state: string;
}

interface SentSms extends SentMessage {
  readonly to: string;
}

/** A record as it is stored, with its `_id`. */
interface PlatformRecord {
  readonly _id: string;
  [field: string]: Json;
}

/**
 * The records of each collection, by its name. Declare yours beside your scripts for completion:
 *
 * ```ts
 * interface PlatformRecords { task: { name: string; amount?: number } }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declarations of the school
interface PlatformRecords {}

/** A record of the collection: as declared in `PlatformRecords`, else with any fields. */
type RecordOf<Name extends string> = Name extends keyof PlatformRecords
  ? PlatformRecords[Name] & { readonly _id: string }
  : PlatformRecord;

/** A query of Mongo, e.g. `{ class: '5', amount: { $gt: 100 } }`; `{}` finds every record. */
type MongoQuery = Record<string, Json>;

/** Fields to 1 or -1. */
type MongoSort = Record<string, 1 | -1>;

/** Fields to 1 or 0, or a list of those that are wanted. */
type MongoProjection = Record<string, Json> | string[];

interface ReadOptions {
  sort?: MongoSort;
  /** 0: no limit. */
  limit?: number;
  skip?: number;
  projection?: MongoProjection;
}

interface UpdateOptions {
  /** Where no record matches, one is made. */
  upsert?: boolean;
  /** Which record is the first. */
  sort?: MongoSort;
  /** All that match, not the first alone. */
  multi?: boolean;
  /** An empty query means all records only when this says so. */
  allowAll?: boolean;
}

interface UpdateResult {
  readonly acknowledged: true;
  readonly matchedCount: number;
  readonly modifiedCount: number;
  readonly upsertedCount: number;
  readonly upsertedId: string | null;
}

interface ModifyOptions {
  /** Gives the record as it is afterwards; so does `returnDocument: 'after'`. */
  new?: boolean;
  returnDocument?: 'before' | 'after';
  upsert?: boolean;
  /** Removes the record; `replacement` is null then. */
  remove?: boolean;
  /** With `remove`: also if other records point to it. Admins only. */
  force?: boolean;
  projection?: MongoProjection;
  allowAll?: boolean;
}

interface CollectionDescription {
  readonly name: string;
  [member: string]: Json;
}

/** Records one after the other, each only when it is asked for. */
interface PlatformStream<Item> extends Iterable<Item> {
  [Symbol.asyncIterator](): AsyncIterator<Item>;
  /** All of them at once, in memory. */
  toArray(): Item[];
}

/** Called once for each; a promise it gives is awaited before the next. */
type EachCallback<Item> = (item: Item) => unknown;

/** Called once at the end, with how many there were, or with what went wrong. */
type EndCallback = (error: PlatformError | null, count: number) => unknown;

interface Platform {
  readonly db: PlatformDb;
  readonly crypto: PlatformCrypto;
  readonly format: PlatformFormat;

  /**
   * Runs a function whose writes are made all or none: they are committed when it returns, and rolled back when it throws, which `transaction`
   * throws again. Everything the script calls until then is part of it and sees its writes; messages leave with the commit, requests at once. One
   * transaction at a time: it holds a connection, so do in it only what belongs together.
   *
   * ```js
   * await platform.transaction(async () => {
   *   await platform.db.update('task', { _id: args.from }, { $inc: { amount: -5 } });
   *   await platform.db.update('task', { _id: args.to }, { $inc: { amount: 5 } });
   * });
   * ```
   */
  transaction<Result>(work: () => Result | Promise<Result>): Promise<Result>;

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
   * Sends an email, as soon as there is a server for it: it is queued, tried again where that helps, and kept with its state.
   *
   * ```js
   * platform.sendEmail({ to: 'parents@example.org', subject: 'Sports day', text: 'On {{day}} at 9.', data: { day: 'Friday' } });
   * ```
   */
  sendEmail(email: EmailRequest, callback?: PlatformCallback<SentMessage>): SentMessage;

  /**
   * Sends a text message to a number, or to each of a list; every one of them has a record of `sms_log`.
   *
   * ```js
   * const { state } = platform.sendSms({ to: '9876543210', text: 'Fees of {{month}} are due', data: { month: 'April' } });
   * platform.print(state);
   * ```
   */
  sendSms(sms: SmsRequest & { to: string }, callback?: PlatformCallback<SentSms>): SentSms;
  sendSms(sms: SmsRequest & { to: string[] }, callback?: PlatformCallback<SentSms[]>): SentSms[];

  /**
   * A report, by its name and with the parameters of its REST path, as whom the script runs. With `csv` or `xlsx` it is a file for people,
   * which an email takes as an attachment. It reads what is committed, and so cannot be called in a transaction.
   *
   * ```js
   * const { rows, totals } = platform.report('strength', { session: '2026-27' });
   * platform.print(rows.length, totals);
   * const file = platform.report('fee-defaulters', { start_month: '2026-04', end_month: '2026-11' }, 'xlsx');
   * platform.sendEmail({ to: 'head@school.example', subject: 'Who owes fees', text: 'As of today.', attachments: [file] });
   * ```
   */
  report(name: string, parameters?: ReportParameters, format?: 'json'): ReportAnswer;
  report(name: string, parameters: ReportParameters, format: 'csv' | 'xlsx'): ReportFile;

  /**
   * The documents of a pipeline of Mongo, all at once; `platform.db.agg` streams them.
   *
   * ```js
   * const groups = await platform.aggregate('registration', [{ $group: { _id: '$class', students: { $sum: 1 } } }]);
   * export default groups.length;
   * ```
   */
  aggregate(collection: string, pipeline: Record<string, Json>[]): Promise<Json[]>;
  aggregate(
    collection: string,
    pipeline: Record<string, Json>[],
    callback: PlatformCallback<Json[]>,
  ): Promise<undefined>;

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

/** A text counts by its UTF-8 bytes; other bytes come in a coding. */
type Bytes = string | { base64: string } | { base64url: string } | { hex: string };
type HashAlgorithm = 'sha256' | 'sha384' | 'sha512' | 'sha1' | 'md5';
type Coding = 'hex' | 'base64' | 'base64url';

interface PlatformCrypto {
  /**
   * The hash of a text or bytes, in hex unless a coding is named.
   *
   * ```js
   * export default platform.crypto.hash('sha256', 'a text');
   * ```
   */
  hash(algorithm: HashAlgorithm, data: Bytes, encoding?: Coding): string;

  /**
   * The signature of a text by a secret key (HMAC). Sign `args.rawBody` of an endpoint, never a body that was parsed and printed again.
   *
   * ```js
   * const expected = platform.crypto.hmac('sha256', platform.decrypt(args.encryptedSecret), args.rawBody);
   * if (!platform.crypto.isEqual(expected, args.headers['x-razorpay-signature'] ?? '')) throw new Error('not signed by the provider');
   * ```
   */
  hmac(algorithm: HashAlgorithm, key: Bytes, data: Bytes, encoding?: Coding): string;

  /**
   * Whether two texts are the same, in a time that does not depend on where they differ.
   *
   * ```js
   * export default platform.crypto.isEqual(args.token, 'secret');
   * ```
   */
  isEqual(one: string, other: string): boolean;

  /**
   * A text or bytes in base64, or in another coding.
   *
   * ```js
   * const authorization = `Basic ${platform.crypto.encode('key:secret')}`;
   * export default authorization;
   * ```
   */
  encode(data: Bytes, encoding?: Coding): string;

  /**
   * The text whose bytes come in a coding.
   *
   * ```js
   * export default JSON.parse(platform.crypto.decode({ base64url: args.payload }));
   * ```
   */
  decode(data: Bytes): string;

  /**
   * A random UUID.
   *
   * ```js
   * export default platform.crypto.uuid();
   * ```
   */
  uuid(): string;

  /**
   * Random bytes, at most 1,024 of them, in hex unless a coding is named.
   *
   * ```js
   * export default platform.crypto.random(16, 'base64url');
   * ```
   */
  random(size: number, encoding?: Coding): string;
}

/** An instant (a `Date`, ISO 8601 text, milliseconds), or a day such as `2026-11-28`. Default: now. */
type FormattedDate = Date | string | number;

/** Texts in the time zone, language and currency of the school (properties `timezone`, `language`, `currency`). */
interface PlatformFormat {
  /**
   * A day: `2026-11-28`, or as the language writes it.
   *
   * ```js
   * const today = platform.format.day();
   * platform.print(today, platform.format.day(new Date(), 'full'));
   * ```
   */
  day(date?: FormattedDate, style?: 'iso' | 'short' | 'medium' | 'long' | 'full'): string;

  /**
   * A time of day, with `medium` to the second.
   *
   * ```js
   * export default platform.format.time(args.scheduledFor);
   * ```
   */
  time(date?: FormattedDate, style?: 'short' | 'medium'): string;

  /**
   * An amount in the currency of the school, or in the one named. A text keeps all its digits.
   *
   * ```js
   * export default platform.format.money(123456.5);
   * ```
   */
  money(amount: number | string, currency?: string): string;

  /**
   * A number, with as many decimals as it has, or as named.
   *
   * ```js
   * export default platform.format.number(1234567.891, 2);
   * ```
   */
  number(number: number | string, digits?: number): string;
}

interface SignedToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly roles: string[];
}

/**
 * The records of the domain in the words of Mongo, with the rights of the user the script acts as. Each function gives a promise, or calls the
 * function that is its last argument with `(error, result)`.
 */
interface PlatformDb {
  /**
   * How many records match.
   *
   * ```js
   * const absent = await platform.db.getCount('attendance', { class: '5', status: 'absent' });
   * platform.db.getCount('task', { amount: { $gt: 100 } }, (error, count) => platform.print(error ?? count));
   * export default absent;
   * ```
   */
  getCount(
    collection: string,
    query: MongoQuery,
    options?: { limit?: number; skip?: number } | null,
  ): Promise<number>;
  getCount(collection: string, query: MongoQuery, callback: PlatformCallback<number>): Promise<undefined>;
  getCount(
    collection: string,
    query: MongoQuery,
    options: { limit?: number; skip?: number } | null,
    callback: PlatformCallback<number>,
  ): Promise<undefined>;

  /**
   * The different values of a field, in order; of a list its elements.
   *
   * ```js
   * export default await platform.db.findDistinct('registration', 'class', { active: true });
   * ```
   */
  findDistinct(collection: string, key: string, query: MongoQuery, options?: null): Promise<Json[]>;
  findDistinct(
    collection: string,
    key: string,
    query: MongoQuery,
    callback: PlatformCallback<Json[]>,
  ): Promise<undefined>;
  findDistinct(
    collection: string,
    key: string,
    query: MongoQuery,
    options: null | Record<string, never>,
    callback: PlatformCallback<Json[]>,
  ): Promise<undefined>;

  /**
   * Changes one record, the first of the order, and gives it as it was, or with `new` as it is; null where none matches. No other writer comes
   * in between.
   *
   * ```js
   * const counter = await platform.db.findAndModify('task', { name: 'counter' }, null, { $inc: { amount: 1 } }, { new: true, upsert: true });
   * export default counter?.amount;
   * ```
   */
  findAndModify<Name extends string>(
    collection: Name,
    query: MongoQuery,
    sort: MongoSort | null,
    replacement: Record<string, Json> | null,
    options?: ModifyOptions | null,
  ): Promise<RecordOf<Name> | null>;
  findAndModify<Name extends string>(
    collection: Name,
    query: MongoQuery,
    sort: MongoSort | null,
    replacement: Record<string, Json> | null,
    callback: PlatformCallback<RecordOf<Name> | null>,
  ): Promise<undefined>;
  findAndModify<Name extends string>(
    collection: Name,
    query: MongoQuery,
    sort: MongoSort | null,
    replacement: Record<string, Json> | null,
    options: ModifyOptions | null,
    callback: PlatformCallback<RecordOf<Name> | null>,
  ): Promise<undefined>;

  /**
   * The records that match, as many as there are, each only when it is asked for: with two functions, or to be gone through.
   *
   * ```js
   * let sum = 0;
   * for await (const receipt of platform.db.findStream('fee_receipt', {}, { projection: ['total'] })) sum += receipt.total;
   *
   * await platform.db.findStream(
   *   'registration',
   *   { class: '5' },
   *   { sort: { name: 1 } },
   *   (student) => platform.print(student.name),
   *   (error, count) => platform.print(error ?? `${count} students`),
   * );
   * export default sum;
   * ```
   */
  findStream<Name extends string>(
    tableName: Name,
    query: MongoQuery,
    options?: ReadOptions | null,
  ): PlatformStream<RecordOf<Name>>;
  findStream<Name extends string>(
    tableName: Name,
    query: MongoQuery,
    _eod: EachCallback<RecordOf<Name>>,
    _com?: EndCallback,
  ): Promise<number>;
  findStream<Name extends string>(
    tableName: Name,
    query: MongoQuery,
    options: ReadOptions | null,
    _eod: EachCallback<RecordOf<Name>>,
    _com?: EndCallback,
  ): Promise<number>;

  /**
   * The documents of a pipeline, one after the other. As much of it as can be runs in the database.
   *
   * ```js
   * const pipeline = [{ $match: { status: 'absent' } }, { $group: { _id: '$class', days: { $sum: 1 } } }, { $sort: { _id: 1 } }];
   * for (const { _id, days } of platform.db.agg('attendance', pipeline)) platform.print(_id, days);
   * ```
   */
  agg(collection: string, agg: Record<string, Json>[]): PlatformStream<Json>;
  agg(
    collection: string,
    agg: Record<string, Json>[],
    _eod: EachCallback<Json>,
    _com?: EndCallback,
  ): Promise<number>;

  /**
   * Stores a record and gives it back. What its collection declares is checked.
   *
   * ```js
   * const { _id } = await platform.db.create('task', { name: 'Call the bank', amount: 100 });
   * export default _id;
   * ```
   */
  create<Name extends string>(
    tableName: Name,
    _data: Record<string, Json>,
    options?: null,
  ): Promise<RecordOf<Name>>;
  create<Name extends string>(
    tableName: Name,
    _data: Record<string, Json>,
    callback: PlatformCallback<RecordOf<Name>>,
  ): Promise<undefined>;
  create<Name extends string>(
    tableName: Name,
    _data: Record<string, Json>,
    options: null | Record<string, never>,
    callback: PlatformCallback<RecordOf<Name>>,
  ): Promise<undefined>;

  /**
   * Stores all of the records, or none.
   *
   * ```js
   * const records = await platform.db.createMultiple('task', [{ name: 'one' }, { name: 'two' }]);
   * export default records.length;
   * ```
   */
  createMultiple<Name extends string>(
    tableName: Name,
    _data: Record<string, Json>[],
    options?: null,
  ): Promise<RecordOf<Name>[]>;
  createMultiple<Name extends string>(
    tableName: Name,
    _data: Record<string, Json>[],
    callback: PlatformCallback<RecordOf<Name>[]>,
  ): Promise<undefined>;
  createMultiple<Name extends string>(
    tableName: Name,
    _data: Record<string, Json>[],
    options: null | Record<string, never>,
    callback: PlatformCallback<RecordOf<Name>[]>,
  ): Promise<undefined>;

  /**
   * Changes one record: `options` says what (operators, or the new record), `options2` and `options3` say how.
   *
   * ```js
   * const { modifiedCount } = await platform.db.update('task', { name: 'one' }, { $set: { amount: 5 } }, { upsert: true });
   * export default modifiedCount;
   * ```
   */
  update(
    tableName: string,
    query: MongoQuery,
    options: Record<string, Json>,
    options2?: UpdateOptions | null,
    options3?: UpdateOptions | null,
  ): Promise<UpdateResult>;
  update(
    tableName: string,
    query: MongoQuery,
    options: Record<string, Json>,
    callback: PlatformCallback<UpdateResult>,
  ): Promise<undefined>;
  update(
    tableName: string,
    query: MongoQuery,
    options: Record<string, Json>,
    options2: UpdateOptions | null,
    callback: PlatformCallback<UpdateResult>,
  ): Promise<undefined>;
  update(
    tableName: string,
    query: MongoQuery,
    options: Record<string, Json>,
    options2: UpdateOptions | null,
    options3: UpdateOptions | null,
    callback: PlatformCallback<UpdateResult>,
  ): Promise<undefined>;

  /**
   * Changes every record that matches, all or none.
   *
   * ```js
   * await platform.db.updateMany('task', { amount: { $lt: 10 } }, { $inc: { amount: 1 } });
   * ```
   */
  updateMany(
    collection: string,
    query: MongoQuery,
    options: Record<string, Json>,
    options2?: UpdateOptions | null,
    options3?: UpdateOptions | null,
  ): Promise<UpdateResult>;
  updateMany(
    collection: string,
    query: MongoQuery,
    options: Record<string, Json>,
    callback: PlatformCallback<UpdateResult>,
  ): Promise<undefined>;
  updateMany(
    collection: string,
    query: MongoQuery,
    options: Record<string, Json>,
    options2: UpdateOptions | null,
    callback: PlatformCallback<UpdateResult>,
  ): Promise<undefined>;
  updateMany(
    collection: string,
    query: MongoQuery,
    options: Record<string, Json>,
    options2: UpdateOptions | null,
    options3: UpdateOptions | null,
    callback: PlatformCallback<UpdateResult>,
  ): Promise<undefined>;

  /**
   * The collections the user may read: all, one by its name, or those whose descriptions match a query.
   *
   * ```js
   * const collections = await platform.db.listCollections({ name: /^fee_/ });
   * export default collections.map((collection) => collection.name);
   * ```
   */
  listCollections(filter?: string | MongoQuery | null): Promise<CollectionDescription[]>;
  listCollections(callback: PlatformCallback<CollectionDescription[]>): Promise<undefined>;
  listCollections(
    filter: string | MongoQuery | null,
    callback: PlatformCallback<CollectionDescription[]>,
  ): Promise<undefined>;

  /**
   * A file in pieces, each only when it is taken: text, the lines of it, or base64. `opts` gives a part of it, by its first and last byte.
   *
   * ```js
   * for (const line of platform.db.readFile(args.fileId, 'lines')) platform.print(line.split(','));
   * ```
   */
  readFile(
    fileId: string,
    res?: 'text' | 'lines' | 'base64',
    opts?: { start?: number; end?: number },
  ): PlatformStream<string>;
  readFile(fileId: string, _eod: EachCallback<string>, _com?: EndCallback): Promise<number>;
  readFile(
    fileId: string,
    res: 'text' | 'lines' | 'base64' | null,
    _eod: EachCallback<string>,
    _com?: EndCallback,
  ): Promise<number>;
  readFile(
    fileId: string,
    res: 'text' | 'lines' | 'base64' | null,
    opts: { start?: number; end?: number } | null,
    _eod: EachCallback<string>,
    _com?: EndCallback,
  ): Promise<number>;
}

declare const platform: Platform;

/** What the script was started with: any JSON; `{}` if nothing was sent. */
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
