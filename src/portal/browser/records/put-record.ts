import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { RecordNow, type RecordNowQuery } from '../../../generated/portal/records/record';
import { GridRecords, type GridRecordsQuery } from '../../../generated/portal/records/records';

type ReadRecord = NonNullable<RecordNowQuery['record']>;

/**
 * Puts a record as it is now where pages have read it, its row in the grid among them: none of them shows it
 * as it was, and reading all rows anew would take its place from under the eye.
 */
export function putRecord(queries: QueryClient, collection: string, record: ReadRecord): void {
  queries.setQueryData<RecordNowQuery>([RecordNow.name, { collection, id: record.id }], { record });
  const rows = queries.getQueriesData<InfiniteData<GridRecordsQuery>>({
    queryKey: [GridRecords.name, { collection }],
  });
  for (const [key, read] of rows) {
    if (read)
      queries.setQueryData(key, { ...read, pages: read.pages.map((page) => withRecord(page, record)) });
  }
}

function withRecord({ records }: GridRecordsQuery, { id, version, data }: ReadRecord): GridRecordsQuery {
  const nodes = records.nodes.map((node) => (node.id === id ? { ...node, version, data } : node));
  return { records: { ...records, nodes } };
}
