/** Reads a document and the answers to its query, with the rights of the viewer. */
import { useQuery } from '@tanstack/react-query';
import {
  PrintedRecords,
  type PrintedRecordsQueryVariables,
  PrintLayout as ReadLayout,
} from '../../../generated/portal/prints/prints';
import { useGateway, useOperation, useViewer } from '../gateway/use-gateway';
import { sessionYearOf, startOfSession } from '../language/days';
import { useToday } from '../language/use-texts';
import type { PrintLayout } from './print-menu';

/** More pages are printed in parts. */
const MOST_PAGES = 200;
/** Queries that run beside each other. */
const AT_ONCE = 4;

type Values = Readonly<Record<string, unknown>>;

/** The values of a template for a page. */
export type PrintedPage = Values;

export interface PrintSubject {
  readonly collection: string;
  readonly where: Values;
  readonly oquery: string;
  readonly orderBy?: PrintedRecordsQueryVariables['orderBy'];
  /** The values of `by`, if a set is printed. */
  readonly set: Values;
  readonly chosen: Values;
}

export function usePrintLayout(name: string) {
  const { data, error } = useOperation(ReadLayout, { name });
  return { layout: data?.print as PrintLayout | undefined, error };
}

/** `undefined` stands for a subject that is not chosen yet. */
export function usePrintPages(layout: PrintLayout | undefined, subject: PrintSubject | undefined) {
  const gateway = useGateway();
  const today = useToday();
  const { sessionFirstMonth } = useViewer();
  return useQuery({
    queryKey: ['print', layout?.name, subject],
    enabled: layout !== undefined && subject !== undefined,
    queryFn: async ({ signal }): Promise<{ pages: readonly PrintedPage[]; hasMore: boolean }> => {
      if (!layout || !subject) throw new Error('There is nothing to print');
      const session = sessionYearOf(today, sessionFirstMonth);
      const sessionStart = startOfSession(today, sessionFirstMonth);
      const { collection, where, oquery, orderBy, set, chosen } = subject;
      const common = { ...chosen, collection, today, sessionStart };
      const names = new Set([...layout.query.matchAll(/\$(\w+)\s*:/g)].map(([, name]) => name));
      const run = async (variables: Values): Promise<PrintedPage> => {
        const sent = Object.fromEntries(Object.entries(variables).filter(([name]) => names.has(name)));
        const options = { signal, leavesOutForbidden: layout.leads === true };
        const answer = await gateway.executeText<Values>(layout.query, sent, options);
        return { ...answer, chosen, today, set, session };
      };
      if (layout.pages === 'all')
        return { pages: [await run({ ...common, ...set, where, oquery })], hasMore: false };
      const { copy = {}, label } = layout;
      const asked = {
        collection,
        where,
        oquery,
        orderBy,
        project: [label, ...Object.values(copy)].filter((name) => name !== '_id'),
      };
      const { records } = await gateway.execute(PrintedRecords, { ...asked, first: MOST_PAGES }, signal);
      const pages: PrintedPage[] = [];
      for (let start = 0; start < records.nodes.length; start += AT_ONCE) {
        const some = records.nodes.slice(start, start + AT_ONCE).map(({ id, data }) => {
          const copied = Object.entries(copy).map(([to, from]) => [
            to,
            from === '_id' ? id : (data as Values)[from],
          ]);
          return run({ ...common, ...Object.fromEntries(copied), id });
        });
        pages.push(...(await Promise.all(some)));
      }
      return { pages, hasMore: records.pageInfo.hasNextPage };
    },
  });
}
