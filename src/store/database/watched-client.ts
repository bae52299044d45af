import type { Socket } from 'node:net';
import pg from 'pg';
import { Parser } from 'pg-protocol/dist/parser.js';

/** Receives events of every connection; `ConnectionWatch` implements it. */
export interface ClientWatcher {
  add(client: WatchedClient): void;
  delete(client: WatchedClient): void;
  /** The server refused to write on a connection that it had let write before, or would again. */
  suspectRole(): void;
  /** The server has no room on its disk. */
  noteFullDisk(): void;
}

export interface WatchedClientConfig extends Omit<pg.ClientConfig, 'connectionString'> {
  /** Returns the address of the server when the connection is made. */
  readonly connectTo: () => string;
  readonly watcher: ClientWatcher;
  /** How long a statement may be without an answer: longer than the limit of the server. 0: no limit. */
  readonly silenceLimitMs: number;
}

/** We ended the connection because the server sent nothing on it, or because it is no longer usable. */
export class LostConnectionError extends Error {
  override readonly name = 'LostConnectionError';
  /** The table of database-errors.ts knows it as one of those of a network. */
  readonly code = 'ETIMEDOUT';
}

type Release = (error?: Error | boolean) => void;

/** Members of node-postgres 8 that its type declarations leave out. */
interface ProtocolState {
  /** False from the sending of a statement until the server is ready for the next one. */
  readonly readyForQuery?: boolean;
}

/** `disk_full` */
const DISK_FULL = '53100';
/** `read_only_sql_transaction` */
const READ_ONLY = '25006';
/**
 * A connection that the server made read-only when it was opened stays so, whatever becomes of the server.
 */
const READ_ONLY_LIFE_MS = 2_000;
/** How long the server may take over the end of a connection, before the socket is closed. */
const END_TIMEOUT_MS = 2_000;

/**
 * A connection that distinguishes a dead server from a slow one, and does not return to its pool once it is
 * unusable. It costs a statement nothing: no timer, no promise, no round trip. Its watcher reads about once a
 * second how long the server has been silent.
 */
export class WatchedClient extends pg.Client {
  readonly silenceLimitMs: number;
  /** The address it was made to. */
  readonly url: string;
  readonly #watcher: ClientWatcher;
  readonly #openedAt = performance.now();
  /** The backend of the server; unknown until the connection is ready for its first statement. */
  backendId: number | undefined;
  isBornReadOnly = false;
  /** The server waits for us in the middle of a statement: it owes no answer. */
  isSuspended = false;
  /** The code that uses the connection has lifted the limit on the server. Ends with the loan. */
  isUnlimited = false;
  /** The number of beats in a row on which the server reported that it does nothing although we wait. */
  restingBeats = 0;
  #silentBeats = 0;
  #bytesRead = 0;
  #isStale = false;
  #release: Release | undefined;

  constructor(config: WatchedClientConfig) {
    const url = config.connectTo();
    super({ ...config, connectionString: url });
    this.url = url;
    this.#watcher = config.watcher;
    this.silenceLimitMs = config.silenceLimitMs;
    useByteRows(this);
    // Node takes a lost connection without a listener for an uncaught error and ends the process. The
    // user of the connection gets the error from its statement.
    this.on('error', () => {});
    this.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === DISK_FULL) this.#watcher.noteFullDisk();
      if (code !== READ_ONLY) return;
      this.#isStale = true;
      this.#watcher.suspectRole();
    });
    this.#watcher.add(this);
    this.once('end', () => this.#watcher.delete(this));
  }

  /** The pool sets it for each loan; calling it returns the connection, or closes a stale one. */
  get release(): Release {
    return (error) => {
      const release = this.#release;
      this.#release = undefined;
      this.isUnlimited = false;
      release?.(error || this.isStale);
    };
  }

  set release(release: Release) {
    this.#release = release;
  }

  get isLent(): boolean {
    return this.#release !== undefined;
  }

  get isStale(): boolean {
    return this.#isStale || (this.isBornReadOnly && performance.now() - this.#openedAt > READ_ONLY_LIFE_MS);
  }

  /** Whether an answer of the server is due. */
  get isWaiting(): boolean {
    return (this as ProtocolState).readyForQuery !== true && !this.isSuspended;
  }

  /** Whether the server has sent anything since the last beat. */
  get hasHeard(): boolean {
    return this.#socket.bytesRead > this.#bytesRead;
  }

  /**
   * Is called once a beat, and gives for how many beats now an answer is due and not a byte of it has come.
   */
  look(): number {
    const { bytesRead } = this.#socket;
    const isSilent = this.isWaiting && bytesRead === this.#bytesRead;
    this.#bytesRead = bytesRead;
    this.#silentBeats = isSilent ? this.#silentBeats + 1 : 0;
    if (!isSilent) this.restingBeats = 0;
    return this.#silentBeats;
  }

  get silentBeats(): number {
    return this.#silentBeats;
  }

  /** Closes it at once, unless somebody uses it or it is being made: then when it is given back. */
  retire(): void {
    this.#isStale = true;
    if (this.isLent || this.backendId === undefined) return;
    // The pool takes out at once what fails while it is idle; a socket that is closed would be found out too
    // late.
    this.emit('error', new LostConnectionError('The connection is renewed.'));
  }

  /** Ends it at once, and fails what waits for an answer on it. */
  lose(reason: string): void {
    this.#isStale = true;
    this.connection.stream.destroy(new LostConnectionError(reason));
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    // A server that is gone never closes the connection, and Node would wait for it.
    const timer = setTimeout(() => this.connection.stream.destroy(), END_TIMEOUT_MS);
    timer.unref();
    this.once('end', () => clearTimeout(timer));
    return callback === undefined ? super.end() : super.end(callback);
  }

  get #socket(): Socket {
    return this.connection.stream as Socket;
  }
}

/** For a caller that has lifted the limit of the session on the server. Ends with the loan. */
export function liftSilenceLimit(client: pg.PoolClient): void {
  if (client instanceof WatchedClient) client.isUnlimited = true;
}

/** A query that receives bytes. It must copy them, because the next read overwrites the buffer. */
export interface ByteRowReader {
  readonly takesBytes: boolean;
}

/** Members of a connection of node-postgres 8 that its type declarations leave out or get wrong. */
export interface WireConnection {
  readonly stream: { readonly writable: boolean; write(bytes: Uint8Array): boolean };
  /** Texts by names: what Postgres has prepared, and what was sent to be. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(name: string, message: object): void;
  execute(message: { portal: string; rows: number }): void;
  flush(): void;
  sync(): void;
}

export function wireOf(client: pg.ClientBase): WireConnection {
  return (client as unknown as { readonly connection: WireConnection }).connection;
}

/** Members of node-postgres 8 and its protocol that are missing from their type declarations. */
interface ActiveClient {
  readonly _activeQuery: Partial<ByteRowReader> | null | undefined;
}
interface PacketParser {
  parse(bytes: Buffer, onMessage: (message: { readonly name: string }) => void): void;
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): object;
}

const DATA_ROW = 'D'.charCodeAt(0);

/** Call it before the client connects. */
function useByteRows(client: pg.ClientBase): void {
  const connection = wireOf(client);
  const active = client as unknown as ActiveClient;
  connection.attachListeners = (stream) => {
    const parser = new Parser() as unknown as PacketParser;
    const readPacket = parser.handlePacket.bind(parser);
    parser.handlePacket = (offset, code, length, bytes) =>
      code === DATA_ROW && active._activeQuery?.takesBytes === true
        ? { name: 'dataRow', length, fields: readFields(bytes, offset) }
        : readPacket(offset, code, length, bytes);
    stream.on('data', (bytes: Buffer) =>
      parser.parse(bytes, (message) =>
        connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message),
      ),
    );
  };
}

/**
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-DATAROW
 */
function readFields(bytes: Buffer, start: number): readonly (Buffer | null)[] {
  const count = bytes.readInt16BE(start);
  const fields: (Buffer | null)[] = [];
  let offset = start + 2;
  for (let field = 0; field < count; field++) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    if (length < 0) {
      fields.push(null);
      continue;
    }
    fields.push(bytes.subarray(offset, offset + length));
    offset += length;
  }
  return fields;
}
