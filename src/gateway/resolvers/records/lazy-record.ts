/**
 * Records and pages as a resolver returns them: not read yet. A front end either reads their fields or prints
 * them as text; both take one statement.
 */
import type { GraphQLResolveInfo } from 'graphql';
import type { PrintedJson } from '../../../base/json/json.js';
import type { RecordPage } from '../../../store/reading/record-page.js';
import type { RecordSet } from '../../../store/reading/record-set.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import type { Member, PageShape } from '../../../store/sql/shape.js';
import type { PageInfo } from './generic-record.js';
import type { RecordForm } from './page-shape.js';
import { PRINT, type Printable, READ } from './printable.js';

/** A page of records, with the fields of a connection. */
export class Page<Node> implements Printable {
  readonly #set: RecordSet;
  readonly #form: RecordForm<Node>;
  readonly #shape: PageShape;
  #page: Promise<RecordPage> | undefined;

  constructor(options: {
    readonly set: RecordSet;
    readonly form: RecordForm<Node>;
    readonly shape: PageShape;
  }) {
    this.#set = options.set;
    this.#form = options.form;
    this.#shape = options.shape;
  }

  async nodes(): Promise<readonly Node[]> {
    const { records } = await this.#read();
    return records.map((record) => this.#form.toNode(record));
  }

  async edges(): Promise<readonly { readonly node: Node; readonly cursor: string }[]> {
    const { records, cursors } = await this.#read();
    return records.map((record, index) => ({
      node: this.#form.toNode(record),
      cursor: cursors[index] ?? '',
    }));
  }

  async pageInfo(): Promise<PageInfo> {
    return pageInfoOf(await this.#read());
  }

  async totalCount(): Promise<number> {
    return await this.#set.count();
  }

  async [PRINT](_info: GraphQLResolveInfo): Promise<PrintedJson> {
    return await this.#set.print(this.#shape);
  }

  [READ](): this {
    return this;
  }

  #read(): Promise<RecordPage> {
    this.#page ??= this.#set.page();
    return this.#page;
  }
}

/** The `pageInfo` of a page. */
export function pageInfoOf({ cursors, hasNextPage, hasPreviousPage }: Omit<RecordPage, 'records'>): PageInfo {
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: cursors.at(0) ?? null,
    endCursor: cursors.at(-1) ?? null,
  };
}

/** A record that has not been read yet. */
export function lazyRecord<Node>({ id, find, get, form, members }: LazyRecordOptions<Node>): Printable {
  return {
    async [PRINT]() {
      const printed = await find().printRecord(id, members);
      if (printed !== undefined) return printed;
      // Throws if there is none: NOT_FOUND or GONE.
      await get();
      return 'null';
    },
    [READ]: async () => form.toNode(await get()),
  };
}

interface LazyRecordOptions<Node> {
  readonly id: string;
  /** A record set that contains the record, for printing. */
  readonly find: () => RecordSet;
  /** Reads it. @throws NOT_FOUND, GONE */
  readonly get: () => Promise<StoredRecord>;
  readonly form: RecordForm<Node>;
  readonly members: readonly Member[];
}
