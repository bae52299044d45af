import {
  keepPreviousData,
  type Query,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type Context, createContext, useContext, useEffect, useEffectEvent } from 'react';
import { type PortalViewerQuery } from '../../../generated/portal/shell/viewer';
import { codeOf } from '../session/gateway-problem';
import { type PortalOperation } from '../session/graphql-headers';
import { type LoginSession } from '../session/login-session';
import { type GatewayClient } from './gateway-client';
import { type WritePlace } from './unanswered-writes';

export const GatewayContext = createContext<GatewayClient | undefined>(undefined);

export const useGateway = () => usePresent(GatewayContext);

export const SessionContext = createContext<LoginSession | undefined>(undefined);

export const useSession = () => usePresent(SessionContext);

/** The logged-in user and their rights, which decide about the menu and every page. */
export type Viewer = PortalViewerQuery['me'];

export type ViewerCollection = Viewer['collections'][number];

export const ViewerContext = createContext<Viewer | undefined>(undefined);

export const useViewer = () => usePresent(ViewerContext);

/** The rights of the viewer on a collection; `undefined` for one that they may not see. */
export function useRights(collection: string): ViewerCollection | undefined {
  return useViewer().collections.find(({ name }) => name === collection);
}

/** Returns the title of a collection; its name if the viewer may not see it. */
export function useTitleOf(): (collection: string) => string {
  const { collections } = useViewer();
  return (collection) => collections.find(({ name }) => name === collection)?.title ?? collection;
}

/** The value of a context. @throws outside of its provider */
export function usePresent<Value>(context: Context<Value | undefined>): Value {
  const value = useContext(context);
  if (value === undefined) throw new Error('The context is used outside of its provider');
  return value;
}

/**
 * Returns the name of a report for its address, by its GraphQL field; `undefined` if the viewer may not run
 * it.
 */
export function useNameOfReport(): (field: string) => string | undefined {
  const { reports } = useViewer();
  return (field) => reports.find((one) => one.field === field)?.name;
}

interface AskingOptions<Result> {
  /** Executes the query only if this is true. */
  readonly isEnabled?: boolean;
  /** Shows the previous answer while another one is awaited. */
  readonly keepsPrevious?: boolean;
  /** Repeats the query at this interval, which may depend on the last answer, while the page is visible. */
  readonly everyMs?: number | ((last: Result | undefined) => number);
}

/** Executes a query; an answer older than half a minute is requested again when it is shown again. */
export function useOperation<Result, Variables>(
  operation: PortalOperation<Result, Variables>,
  variables: Variables,
  { isEnabled = true, keepsPrevious = false, everyMs }: AskingOptions<Result> = {},
): UseQueryResult<Result, Error> {
  const gateway = useGateway();
  return useQuery({
    queryKey: [operation.name, variables],
    queryFn: ({ signal }) => gateway.execute(operation, variables, signal),
    enabled: isEnabled,
    ...(everyMs !== undefined && {
      refetchInterval: ({ state: { data } }: Query<Result, Error, Result, readonly unknown[]>) =>
        typeof everyMs === 'number' ? everyMs : everyMs(data),
    }),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}

/** Returns a function that repeats the queries with these names. */
export function useAskAnew(): (outdated: readonly { readonly name: string }[]) => Promise<void> {
  const queries = useQueryClient();
  return async (outdated) => {
    await Promise.all(outdated.map(({ name }) => queries.invalidateQueries({ queryKey: [name] })));
  };
}

/**
 * Returns a mutation. `keptIn` makes a repetition recognizable. Afterwards, the queries with these names are
 * repeated.
 */
export function useChange<Result, Variables>(
  { name, text }: PortalOperation<Result, Variables>,
  outdated: readonly { readonly name: string }[] = [],
  keptIn?: WritePlace,
): UseMutationResult<Result, Error, Variables> {
  const gateway = useGateway();
  const askAnew = useAskAnew();
  return useMutation({
    mutationFn: (variables: Variables) => gateway.executeText<Result>(text, variables, { name, keptIn }),
    onSuccess: () => askAnew(outdated),
    // After a change by somebody else, the current version is read before the refusal is shown.
    onError: async (fault) => {
      if (codeOf(fault) === 'VERSION_CONFLICT') await askAnew(outdated);
    },
  });
}

/**
 * Calls back with each event of a subscription while the component is shown, and when events may have been
 * missed.
 */
export function useEvents<Result, Variables>(
  operation: PortalOperation<Result, Variables>,
  variables: Variables,
  onEvent: (event: Result) => void,
  missed: () => void,
): void {
  const gateway = useGateway();
  const key = JSON.stringify(variables);
  const follower = { onEvent: useEffectEvent(onEvent), missed: useEffectEvent(missed) };
  // biome-ignore lint/correctness/useExhaustiveDependencies: an object with the same values is not a change.
  useEffect(() => gateway.follow(operation, variables, follower), [gateway, operation, key]);
}

/**
 * Sends a write at once or not at all, and returns the id by which it can be undone. Other mutations wait for
 * the network, and would be done when the page is long gone.
 */
export function useWrite<Result, Variables>(operation: PortalOperation<Result, Variables>) {
  const gateway = useGateway();
  return useMutation({
    networkMode: 'always',
    mutationFn: (variables: Variables) => gateway.executeTraced(operation, variables, 'tab'),
  });
}

/** Executes a query without a session, once: for pages that a mailed link leads to. */
export function useOpenOperation<Result, Variables>(
  operation: PortalOperation<Result, Variables>,
  variables: Variables,
): UseQueryResult<Result, Error> {
  const gateway = useGateway();
  return useQuery({
    queryKey: [operation.name, variables],
    queryFn: () => gateway.executeOpenly(operation, variables),
    networkMode: 'always',
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Hands a file to the browser as a download. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download has started by then. Otherwise, the file would stay in memory as long as the page.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

interface Download {
  readonly path: string;
  /** The name of the file in the browser. */
  readonly name: string;
}

/** Downloads what is at a path of the gateway. The browser does not open it, whatever its content. */
export function useDownload(): UseMutationResult<void, Error, Download> {
  const gateway = useGateway();
  return useMutation({
    mutationFn: async ({ path, name }: Download) => saveFile(await gateway.fetchFile(path), name),
  });
}

interface ListedPage<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A page of a list without `pageInfo`: a full page has a next one, which starts after its last row. */
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
  options: { readonly refetchOnWindowFocus?: boolean; readonly refetchOnReconnect?: boolean } = {},
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
      ...options,
    });
  const more = { isThere: hasNextPage, isLoading: isFetchingNextPage, load: () => void fetchNextPage() };
  return { data: data?.pages.flatMap((page) => readPage(page).nodes), error, refetch, isFetching, more };
}
