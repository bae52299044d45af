import { useInfiniteQuery } from '@tanstack/react-query';
import { type PortalOperation } from '../session/graphql-headers';
import { useGateway } from './use-gateway';

export interface ListedPage<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A page of a list without `pageInfo`: more follow a whole page, from its last row on. */
export function pageOf<Row extends { readonly id: string }>(
  nodes: readonly Row[],
  size: number,
): ListedPage<Row> {
  return { nodes, pageInfo: { hasNextPage: nodes.length === size, endCursor: nodes.at(-1)?.id ?? null } };
}

/** A list that is read page by page: the rows read so far, and how to read more. */
export function useListedPages<Result, Variables, Row>(
  operation: PortalOperation<Result, Variables>,
  variablesAt: (cursor: string | null) => Variables,
  readPage: (result: Result) => ListedPage<Row>,
) {
  const gateway = useGateway();
  const { data, error, refetch, isFetching, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useInfiniteQuery({
      queryKey: [operation.name, variablesAt(null)],
      queryFn: ({ pageParam, signal }) => gateway.execute(operation, variablesAt(pageParam), signal),
      initialPageParam: null as string | null,
      getNextPageParam: (result) => {
        const { hasNextPage: isThere, endCursor } = readPage(result).pageInfo;
        return isThere ? endCursor : undefined;
      },
    });
  const more = { isThere: hasNextPage, isLoading: isFetchingNextPage, load: () => void fetchNextPage() };
  return { data: data?.pages.flatMap((page) => readPage(page).nodes), error, refetch, isFetching, more };
}
