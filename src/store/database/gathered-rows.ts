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

/**
 * Collects the values as the bytes Postgres sent, ready to be passed on: copied once, never converted to
 * strings.
 */
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
    if (this.#memberStart === undefined) this.#append(value);
    else this.#appendObject(this.#memberStart, value, rest);
    this.#append(this.#end);
    this.#before = this.#separator;
    this.#rowCount += 1;
  }

  #appendObject(memberStart: Buffer, value: Buffer, object: Buffer): void {
    this.#append(memberStart);
    this.#append(value);
    if (object.length > EMPTY_OBJECT.length) this.#append(MEMBER_END);
    this.#append(object.subarray(1));
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
