/**
 * Records and pages as a resolver returns them: not read yet. A front end either reads their fields or prints
 * them as text; both take one statement.
 */
import type { RecordPage } from '../../../store/reading/record-page.js';
import type { RecordSet } from '../../../store/reading/record-set.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import type { Member, PageShape } from '../../../store/sql/shape.js';
import type { PageInfo } from './generic-record.js';
import type { RecordForm } from './page-shape.js';
import { PRINT, type Printable, READ } from './printable.js';

/** A page of records, with the fields of a connection. */
export function lazyPage<Node>({
  set,
  form,
  shape,
}: {
  readonly set: RecordSet;
  readonly form: RecordForm<Node>;
  readonly shape: PageShape;
}) {
  let page: Promise<RecordPage> | undefined;
  const read = () => {
    page ??= set.page();
    return page;
  };
  const source = {
    nodes: async () => (await read()).records.map((record) => form.toNode(record)),
    edges: async () => {
      const { records, cursors } = await read();
      return records.map((record, index) => ({ node: form.toNode(record), cursor: cursors[index] ?? '' }));
    },
    pageInfo: async () => pageInfoOf(await read()),
    totalCount: () => set.count(),
  };
  return { ...source, [PRINT]: () => set.print(shape), [READ]: () => source } satisfies Printable;
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
