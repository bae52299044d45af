/** The rows of a report, page by page, or as many as can be sorted in a browser. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo } from 'react';
import { useGateway } from '../gateway/use-gateway';
import type { AskableReport } from './askable-report';
import type { AnsweredReport } from './report-values';

/** The order and the words of the table in the address. */
export const ARRANGED = { sort: '', find: '' };

export const REPORT_PAGE = 200;
/** The largest page of the gateway by default, and how many rows are loaded to be sorted. */
const WHOLE_PAGE = 1000;
const MOST_ROWS = 5000;

export interface ReportQuestion {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly isEnabled: boolean;
  /** Whether all rows are needed, such as to sort them, up to `MOST_ROWS`. */
  readonly isWhole: boolean;
}

export function useReportAnswer(form: AskableReport, { variables, isEnabled, isWhole }: ReportQuestion) {
  const gateway = useGateway();
  const query = useInfiniteQuery({
    queryKey: ['report', form.field, variables],
    queryFn: async ({ pageParam, signal }) => {
      const page = pageParam === null ? { first: REPORT_PAGE } : { first: WHOLE_PAGE, after: pageParam };
      const answer = await gateway.executeText<Readonly<Record<string, AnsweredReport>>>(
        form.document,
        { ...variables, ...page },
        { signal },
      );
      return answer[form.field];
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page?.pageInfo?.hasNextPage ? page.pageInfo.endCursor : undefined),
    enabled: isEnabled,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = query;
  const data = useDeferredValue(query.data);
  const rows = useMemo(() => data?.pages.flatMap((page) => page?.rows ?? []) ?? [], [data]);
  const isToLoad = isWhole && hasNextPage && rows.length < MOST_ROWS && !error;
  useEffect(() => {
    if (isToLoad && !isFetchingNextPage) void fetchNextPage();
  }, [isToLoad, isFetchingNextPage, fetchNextPage]);
  return { ...query, first: data?.pages[0], rows, isLoadingAll: isToLoad };
}

export type LoadedReport = ReturnType<typeof useReportAnswer>;
