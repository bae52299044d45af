/**
 * A statement that returns rows, for node-postgres to run with less work than a query of its own: known
 * descriptions are not requested again, and the request is one write.
 */

import { createRequire } from 'node:module';
import pg from 'pg';
import { serialize } from 'pg-protocol';
import { getOrMake } from '../../base/process/get-or-make.js';
import { type ByteRowReader, type WireConnection, wireOf } from './watched-client.js';

export interface RowStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The name of the prepared statement; `undefined`: none. */
  readonly name: string | undefined;
  /** How columns of type text come. */
  readonly texts: 'strings' | 'bytes';
  /** @see QueryOptions.first */
  readonly first?: FirstStatement | undefined;
}

/** A prepared statement that gives no rows. */
type FirstStatement = Pick<RowStatement, 'text' | 'values'> & { readonly name: string };

/** Its type declarations leave it out. How node-postgres writes a value for Postgres to read. */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  prepareValue(value: unknown): unknown;
};

/** The value as a text that PostgreSQL reads as any type; null stays null. */
export function toParameterText(value: unknown): string | null {
  const prepared = prepareValue(value);
  if (prepared === null || prepared === undefined) return null;
  return Buffer.isBuffer(prepared) ? `\\x${prepared.toString('hex')}` : String(prepared);
}

type ReadValue = (value: string & Buffer) => unknown;

interface Column {
  readonly name: string;
  readonly read: ReadValue;
}

interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** Prepared statements of a connection, by name: Postgres runs none whose columns have changed. */
const columnsByConnection = new WeakMap<object, Map<string, readonly Column[]>>();

/**
 * Runs the statement. With a name it is prepared once a connection. Values come as node-postgres reads them,
 * except: `bigint` is a number, `date` stays the text `YYYY-MM-DD`.
 */
export async function queryRows<Row extends object>(
  client: pg.ClientBase,
  statement: RowStatement,
): Promise<Row[]> {
  const { first } = statement;
  // node-postgres notes one statement of a write as prepared: this one has to be by then.
  if (first !== undefined && wireOf(client).parsedStatements[first.name] === undefined)
    await runRows(client, { ...first, texts: 'strings' });
  return await runRows<Row>(client, statement);
}

function runRows<Row extends object>(client: pg.ClientBase, statement: RowStatement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    client.query(new RowQuery(statement, { resolve: (rows) => resolve(rows as Row[]), reject }));
  });
}

interface Settled {
  readonly resolve: (rows: object[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The callbacks that node-postgres calls for a statement. */
class RowQuery implements ByteRowReader {
  /** Read by node-postgres, which notes what was prepared. */
  readonly name: string | undefined;
  readonly text: string;
  readonly takesBytes: boolean;
  readonly #values: readonly unknown[];
  readonly #first: FirstStatement | undefined;
  readonly #settled: Settled;
  readonly #rows: object[] = [];
  #columns: readonly Column[] | undefined;
  #fault: { readonly error: unknown } | undefined;
  #isFirstUnderWay: boolean;

  constructor({ text, values, name, texts, first }: RowStatement, settled: Settled) {
    this.text = text;
    this.name = name;
    this.takesBytes = texts === 'bytes';
    this.#values = values;
    this.#first = first;
    this.#isFirstUnderWay = first !== undefined;
    this.#settled = settled;
  }

  /** node-postgres would put one here, and has no use for it. */
  readonly callback = () => {};

  submit(connection: WireConnection): Error | null {
    const { name, text } = this;
    const { parsedStatements, submittedNamedStatements } = connection;
    const known = name === undefined ? undefined : (parsedStatements[name] ?? submittedNamedStatements[name]);
    if (known !== undefined && known !== text) {
      return new Error(`The prepared statement ${name} is another statement.`);
    }
    const messages: Buffer[] = [];
    try {
      // Messages before one `sync` form one transaction, which stops at the first error.
      if (this.#first !== undefined) messages.push(...runOf(this.#first));
      if (known === undefined) messages.push(serialize.parse({ text, ...(name !== undefined && { name }) }));
      messages.push(
        serialize.bind({
          ...(name !== undefined && { statement: name }),
          values: this.#values as unknown[],
          valueMapper: prepareValue,
        }),
      );
    } catch (error) {
      return error as Error;
    }
    if (known === undefined && name !== undefined) submittedNamedStatements[name] = text;
    this.#columns = known === undefined ? undefined : this.#columnsOf(connection).get(this.#key);
    if (this.#columns === undefined) messages.push(serialize.describe({ type: 'P' }));
    messages.push(serialize.execute(), serialize.sync());
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages));
    return null;
  }

  handleRowDescription({ fields }: RowDescription): void {
    const toReader = this.takesBytes ? readerOfBytes : readerOf;
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, read: toReader(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly ((string & Buffer) | null)[] }): void {
    if (this.#fault !== undefined) return;
    const row: Record<string, unknown> = {};
    try {
      let index = 0;
      for (const { name, read } of this.#columns ?? []) {
        const value = fields[index] ?? null;
        row[name] = value === null ? null : read(value);
        index += 1;
      }
      this.#rows.push(row);
    } catch (error) {
      this.#fault = { error };
    }
  }

  handleCommandComplete(_message: unknown, connection: WireConnection): void {
    if (this.#isFirstUnderWay) {
      this.#isFirstUnderWay = false;
      return;
    }
    // Nothing is described of a statement without rows.
    this.#columns ??= [];
    if (this.name !== undefined) this.#columnsOf(connection).set(this.#key, this.#columns);
  }

  handleReadyForQuery(): void {
    if (this.#fault === undefined) this.#settled.resolve(this.#rows);
    else this.#settled.reject(this.#fault.error);
  }

  handleError(error: unknown): void {
    this.#settled.reject(error);
  }

  handlePortalSuspended(): void {}

  handleEmptyQuery(): void {}

  /** The same statement may be read in two ways. */
  get #key(): string {
    return `${this.takesBytes ? 'bytes' : 'strings'} ${this.name}`;
  }

  #columnsOf(connection: WireConnection): Map<string, readonly Column[]> {
    return getOrMake(columnsByConnection, connection, () => new Map<string, readonly Column[]>());
  }
}

function runOf({ name, values }: FirstStatement): readonly Buffer[] {
  const bind = serialize.bind({ statement: name, values: [...values], valueMapper: prepareValue });
  return [bind, serialize.execute()];
}

const TEXT_OID = 25;
const DATE_OID = 1082;
const BIGINT_OID = 20;
const READERS: ReadonlyMap<number, ReadValue> = new Map<number, ReadValue>([
  // The default makes a Date at local midnight of it, a day off in half the world.
  [DATE_OID, (text) => text],
  // Counts, and ids far from 2^53.
  [BIGINT_OID, Number],
]);

function readerOf(typeOid: number): ReadValue {
  return READERS.get(typeOid) ?? (pg.types.getTypeParser(typeOid, 'text') as ReadValue);
}

function readerOfBytes(typeOid: number): ReadValue {
  if (typeOid === TEXT_OID) return (bytes) => Buffer.from(bytes);
  const read = readerOf(typeOid) as (text: string) => unknown;
  return (bytes) => read(bytes.toString());
}
