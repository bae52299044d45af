/** Rows of queries, a batch at a time: memory stays bounded however long the answer is. */

import pg from 'pg';
import { defined } from '../../base/json/json.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import { succeeds } from '../../base/process/succeeds.js';
import type { Cancellation } from './cancellation.js';
import { TOO_SLOW, toServiceError, translateDatabaseError } from './database-errors.js';
import type { RowStatement } from './row-query.js';
import { type ByteRowReader, WatchedClient, type WireConnection, wireOf } from './watched-client.js';

/** Must select ONE text column, unless `rows` needs more. */
type StreamedQuery = Pick<RowStatement, 'text' | 'values' | 'name'>;

export interface RowStreamOptions<Batch> {
  /** Their rows follow each other. Several see the database as it is at one moment. */
  readonly queries: readonly StreamedQuery[];
  readonly batchRows: number;
  /** The receiver of the rows of all queries. */
  readonly rows: GatheredRows<Batch>;
  /** How long one batch may take, not the whole answer. */
  readonly batchTimeoutMs: number;
  readonly signal: EndSignal | undefined;
}

/**
 * Runs the queries on a connection lent to it, and gives the connection back. The first batch costs one round
 * trip, and every other one more; Postgres makes at most one batch ahead of the reader, so a slow reader
 * holds it back.
 *
 * Leaving the loop ends what runs. So does the signal, at once, even while the reader is busy with a batch:
 * pass one wherever a reader may go away, because a generator waiting for a batch cannot be left before it
 * comes.
 */
export async function* streamRows<Batch>(
  client: pg.PoolClient,
  options: RowStreamOptions<Batch>,
  cancellation: Cancellation,
): AsyncGenerator<Batch, void> {
  const { signal, batchTimeoutMs, queries, rows } = options;
  const isTransaction = queries.length > 1;
  let query: BatchedQuery<Batch> | undefined;
  let finished: Promise<void> | undefined;
  const finish = () => {
    finished ??= giveBack(client, { isTransaction, isAtRest: query?.leave(cancellation) });
    return finished;
  };
  const abort = () => {
    query?.fail(signal?.reason);
    void finish();
  };
  try {
    signal?.throwIfAborted();
    // One snapshot for all of the queries.
    if (isTransaction)
      await client.query('begin isolation level repeatable read, read only').catch((error: unknown) => {
        throw translateDatabaseError(error);
      });
    signal?.addEventListener('abort', abort, { once: true });
    for (const one of queries) {
      signal?.throwIfAborted();
      query = new BatchedQuery(client, { ...one, rows, batchRows: options.batchRows });
      query.start();
      while (!query.isComplete) {
        await query.nextBatch(batchTimeoutMs);
        const batch = rows.isEmpty ? undefined : rows.take();
        query.requestBatch();
        if (batch !== undefined) yield batch;
        signal?.throwIfAborted();
      }
      await query.rest;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    await finish();
  }
}

/** A connection that did not come to rest is thrown away; so is one whose transaction cannot be ended. */
async function giveBack(
  client: pg.PoolClient,
  {
    isTransaction,
    isAtRest = Promise.resolve(true),
  }: { isTransaction: boolean; isAtRest?: Promise<boolean> | undefined },
): Promise<void> {
  let isUsable = await isAtRest;
  if (isUsable && isTransaction) isUsable = await succeeds(client.query('rollback'));
  client.release(!isUsable);
}

/** How long a connection may take to come to rest after its query was cancelled, before it is thrown away. */
const REST_TIMEOUT_MS = 3_000;

/**
 * A query of node-postgres that stops at every batch. Its base class sends Parse (once a connection, where it
 * has a name), Bind, Describe and the first Execute together; the calls below are what comes back.
 *
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
class BatchedQuery<Batch> extends pg.Query implements ByteRowReader {
  readonly #client: pg.PoolClient;
  readonly #batchRows: number;
  /** `running`: an Execute is under way. `suspended`: its batch is here. Else nothing more comes. */
  #state: 'new' | 'running' | 'suspended' | 'complete' | 'failed' = 'new';
  readonly takesBytes: boolean;
  readonly #rows: GatheredRows<Batch>;
  #isLeft = false;
  #isSynced = false;
  #failure: { readonly error: unknown } | undefined;
  #onBatch: (() => void) | undefined;
  #onRest: () => void = () => {};
  /** Comes when Postgres is ready for the next query, or when the connection is lost. */
  readonly rest = new Promise<void>((resolve) => {
    this.#onRest = resolve;
  });

  constructor(
    client: pg.PoolClient,
    query: StreamedQuery & Pick<RowStreamOptions<Batch>, 'batchRows' | 'rows'>,
  ) {
    const { text, values, name, batchRows, rows } = query;
    super(defined({ text, values: [...values], rows: batchRows, name }));
    this.#client = client;
    this.#batchRows = batchRows;
    this.#rows = rows;
    this.takesBytes = rows.takesBytes;
  }

  start(): void {
    this.#state = 'running';
    this.#client.query(this);
  }

  get isComplete(): boolean {
    return this.#state === 'complete' && this.#rows.isEmpty;
  }

  /**
   * Waits until the batch under way is gathered. @throws what went wrong with it, or UNAVAILABLE when it
   * takes too long
   */
  async nextBatch(timeoutMs: number): Promise<void> {
    if (this.#state === 'running' && !this.#failure) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          this.fail(toServiceError(TOO_SLOW));
        }, timeoutMs);
        this.#onBatch = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    if (this.#failure) throw translateDatabaseError(this.#failure.error);
  }

  /** Asks for one more batch, if there may be one. */
  requestBatch(): void {
    if (this.#state !== 'suspended') return;
    this.#state = 'running';
    this.#setSuspended(false);
    const connection = wireOf(this.#client);
    connection.execute({ portal: '', rows: this.#batchRows });
    connection.flush();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#onBatch?.();
  }

  /** Ends the query wherever it is; whether the connection is fit for the next one. */
  async leave(cancellation: Cancellation): Promise<boolean> {
    this.#isLeft = true;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), REST_TIMEOUT_MS);
    });
    const outcome = await Promise.race([this.#comeToRest(cancellation), deadline]);
    clearTimeout(timer);
    return outcome !== 'late';
  }

  async #comeToRest(cancellation: Cancellation): Promise<void> {
    if (this.#state === 'new') return;
    const isRunning = this.#state === 'running';
    if (isRunning || this.#state === 'suspended') this.#sync(wireOf(this.#client));
    // Both: a cancellation that arrived after its query would hit the next one on this connection.
    await Promise.all([isRunning ? cancellation.cancel(this.#client) : undefined, this.rest]);
    // node-postgres does not notify a failed query when Postgres is ready again, but it keeps the next one
    // waiting until then.
    if (this.#state === 'failed') await this.#client.query('select').catch(() => {});
  }

  /** Ends the transaction around the portal, exactly once: each Sync has an answer of its own. */
  #sync(connection: WireConnection): void {
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#setSuspended(false);
    connection.sync();
  }

  handleRowDescription(): void {}

  handleDataRow({ fields }: { readonly fields: RowFields }): void {
    if (!this.#isLeft) this.#rows.add(fields);
  }

  handlePortalSuspended(): void {
    this.#state = 'suspended';
    this.#setSuspended(true);
    this.#onBatch?.();
  }

  /** Between two batches the reader takes its time; the server owes nothing. */
  #setSuspended(isSuspended: boolean): void {
    if (this.#client instanceof WatchedClient) this.#client.isSuspended = isSuspended;
  }

  handleCommandComplete(_message: unknown, connection: WireConnection): void {
    this.#state = 'complete';
    this.#sync(connection);
    this.#onBatch?.();
  }

  handleEmptyQuery(connection: WireConnection): void {
    this.handleCommandComplete(undefined, connection);
  }

  handleReadyForQuery(): void {
    this.#onRest();
  }

  handleError(error: Error, connection: WireConnection): void {
    this.#state = 'failed';
    // Postgres skips everything up to the Sync after an error of its own; a lost connection hears nothing any
    // more.
    if ('severity' in error) this.#sync(connection);
    this.fail(error);
    this.#onRest();
  }
}

/** Collects the values of a stream in batches. */
export interface GatheredRows<Batch> {
  /** Whether `add` receives bytes; see `ByteRowReader`. */
  readonly takesBytes: boolean;
  readonly isEmpty: boolean;
  /** The columns of a row. */
  add(fields: RowFields): void;
  /** The rows added since the last call. */
  take(): Batch;
}

export type RowFields = readonly ((string & Buffer) | null)[];

/** Collects single values; null becomes `null`. */
export class ListedRows implements GatheredRows<readonly string[]> {
  readonly takesBytes = false;
  #rows: string[] = [];

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  add([value]: RowFields): void {
    this.#rows.push(value ?? 'null');
  }

  take(): readonly string[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

/** The text around and between the values of an answer. */
export interface RowPunctuation {
  /** Before the first value of all. */
  readonly start: string;
  /** Before every other one. */
  readonly separator: string;
  /** After each. */
  readonly end: string;
  /**
   * Each row consists of the value of this member, and an object into which it is inserted as the first
   * member, both as JSON: inserting would take PostgreSQL longer than printing the object.
   */
  readonly firstMember?: string;
}

export interface JoinedBatch {
  readonly bytes: Buffer;
  readonly rowCount: number;
}

const FIRST_BYTES = 64 * 1024;

/** Collects the values as the bytes that Postgres sent: copied once, never converted to strings. */
export class JoinedRows implements GatheredRows<JoinedBatch> {
  readonly takesBytes = true;
  readonly #separator: Buffer;
  readonly #end: Buffer;
  #before: Buffer;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  #rowCount = 0;

  readonly #memberStart: Buffer | undefined;

  constructor({ start, separator, end, firstMember }: RowPunctuation) {
    this.#memberStart =
      firstMember === undefined ? undefined : Buffer.from(`{${JSON.stringify(firstMember)}: `);
    this.#before = Buffer.from(start);
    this.#separator = Buffer.from(separator);
    this.#end = Buffer.from(end);
  }

  get isEmpty(): boolean {
    return this.#rowCount === 0;
  }

  add([first, object]: RowFields): void {
    const value = first ?? NULL;
    const rest = object ?? EMPTY_OBJECT;
    const around = this.#before.length + this.#end.length;
    this.#makeRoom(
      around + value.length + (this.#memberStart?.length ?? 0) + MEMBER_END.length + rest.length,
    );
    this.#append(this.#before);
    if (this.#memberStart !== undefined) this.#append(this.#memberStart);
    this.#append(value);
    if (this.#memberStart !== undefined) {
      if (rest.length > EMPTY_OBJECT.length) this.#append(MEMBER_END);
      this.#append(rest.subarray(1));
    }
    this.#append(this.#end);
    this.#before = this.#separator;
    this.#rowCount += 1;
  }

  take(): JoinedBatch {
    const batch = { bytes: this.#bytes.subarray(0, this.#length), rowCount: this.#rowCount };
    // The next batch will probably be as long.
    this.#bytes = Buffer.allocUnsafe(Math.max(FIRST_BYTES, this.#length + (this.#length >> 3)));
    this.#length = 0;
    this.#rowCount = 0;
    return batch;
  }

  #append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    bytes.copy(this.#bytes, this.#length);
    this.#length += bytes.length;
  }

  #makeRoom(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const NULL = Buffer.from('null');
const EMPTY_OBJECT = Buffer.from('{}');
const MEMBER_END = Buffer.from(', ');
