import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { RecordNow, type RecordNowQuery } from '../../../generated/portal/records/record';
import { GridRecords, type GridRecordsQuery } from '../../../generated/portal/records/records';

type ReadRecord = NonNullable<RecordNowQuery['record']>;

/**
 * Replaces a record in all cached answers, including its row in the grid, so that no page shows the old
 * version. Reading all rows again could move the row that the user is looking at.
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
