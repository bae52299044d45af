import { useQuery } from '@tanstack/react-query';
import { useGateway } from '../gateway/use-gateway';
import type { IndexedReport } from './rest-address';

/** A report as described by the index of the service, `GET /`. */
export function useIndexedReport(name: string): IndexedReport | undefined {
  const gateway = useGateway();
  const { data } = useQuery({
    queryKey: ['index'],
    queryFn: async ({ signal }) => {
      const response = await gateway.fetch('/', { headers: { accept: 'application/json' }, signal });
      return (await response.json()) as { readonly reports: readonly IndexedReport[] };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.reports.find((report) => report.name === name);
}
