/** The further pages of an answer, loaded one by one, or all of them for a file. */
import { useRef, useState } from 'react';
import {
  LONGEST_PAGE,
  mergePages,
  operationOfMore,
  type PagedList,
  pagedListsOf,
  type RunOperation,
} from '../../explore/paged-list';
import { useExplorerContext } from './explorer-context';

/**
 * A page size that needs fewer requests for a whole list. If such pages cost too much, the page size of the
 * operation is used.
 */
const PAGE_OF_A_FILE = 200;

export interface LoadedPages {
  /** The answer with all pages loaded so far. */
  readonly data: unknown;
  readonly lists: readonly PagedList[];
  readonly isLoading: boolean;
  /** Why loading the last page failed. */
  readonly fault: string | undefined;
  /** Loads the next page. */
  loadMore(table: string): Promise<void>;
  /**
   * Loads all missing pages and returns the complete answer. `undefined` if that failed, or if another
   * operation was run in the meantime.
   */
  loadAll(table: string): Promise<unknown>;
}

/** `response` identifies the answer. Pages of another answer are dropped. */
export function usePages(run: RunOperation | undefined, response: string, first: unknown): LoadedPages {
  const { query } = useExplorerContext();
  const [loaded, setLoaded] = useState<{ readonly response: string; readonly data: unknown }>();
  const [state, setState] = useState<{
    readonly response: string;
    readonly isLoading: boolean;
    readonly fault?: string;
  }>();
  const current = useRef(response);
  current.current = response;
  const data = loaded?.response === response ? loaded.data : first;
  const isOurs = state?.response === response;

  async function load(table: string, until: 'the next' | 'all'): Promise<unknown> {
    if (!run || (isOurs && state.isLoading)) return undefined;
    setState({ response, isLoading: true });
    let answer = data;
    try {
      for (;;) {
        const list = pagedListsOf(run, answer).find((one) => one.table === table);
        if (!list || list.hasMore === 'no') break;
        const more = await fetchMore(list, until);
        if (current.current !== response) return undefined;
        const merged = mergePages(answer, more, list);
        answer = merged;
        setLoaded({ response, data: answer });
        const grown = pagedListsOf(run, answer).find((one) => one.table === table);
        // A list without a cursor is requested again with a greater length. If it does not grow, it is
        // complete.
        if (until === 'the next' || list.cursor === undefined || grown?.shown === list.shown) break;
      }
      setState({ response, isLoading: false });
      return answer;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (current.current === response) setState({ response, isLoading: false, fault: error.message });
      return undefined;
    }
  }

  async function fetchMore(list: PagedList, until: 'the next' | 'all'): Promise<unknown> {
    if (!run) return undefined;
    if (list.cursor === undefined) return dataOf(await query(operationOfMore(run, list, LONGEST_PAGE)));
    if (until === 'all') {
      const answer = await query(operationOfMore(run, list, PAGE_OF_A_FILE));
      if (!answer.errors) return dataOf(answer);
    }
    return dataOf(await query(operationOfMore(run, list, undefined)));
  }

  return {
    data,
    lists: run ? pagedListsOf(run, data) : [],
    isLoading: isOurs && state.isLoading,
    fault: isOurs ? state.fault : undefined,
    loadMore: async (table) => {
      await load(table, 'the next');
    },
    loadAll: (table) => load(table, 'all'),
  };
}

function dataOf(answer: {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
}): unknown {
  const [error] = answer.errors ?? [];
  if (error) throw new Error(error.message);
  return answer.data;
}
