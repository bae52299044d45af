import {
  keepPreviousData,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useGateway } from './gateway-context';
import type { PortalOperation } from './portal-operation';

export interface AskingOptions {
  /** Asks only when it holds. */
  readonly isEnabled?: boolean;
  /** Shows the answer to what was asked before while another one is waited for. */
  readonly keepsPrevious?: boolean;
}

/** The answer to a query, asked again when it is older than half a minute and shown anew. */
export function useOperation<Result, Variables>(
  operation: PortalOperation<Result, Variables>,
  variables: Variables,
  { isEnabled = true, keepsPrevious = false }: AskingOptions = {},
): UseQueryResult<Result, Error> {
  const gateway = useGateway();
  return useQuery({
    queryKey: [operation.name, variables],
    queryFn: ({ signal }) => gateway.execute(operation, variables, signal),
    enabled: isEnabled,
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}

/** A mutation; after it the queries with these names are asked again. */
export function useChange<Result, Variables>(
  operation: PortalOperation<Result, Variables>,
  outdated: readonly { readonly name: string }[] = [],
): UseMutationResult<Result, Error, Variables> {
  const gateway = useGateway();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (variables: Variables) => gateway.execute(operation, variables),
    onSuccess: async () => {
      await Promise.all(outdated.map(({ name }) => queries.invalidateQueries({ queryKey: [name] })));
    },
  });
}
