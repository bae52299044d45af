import {
  keepPreviousData,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { useGateway } from './gateway-context';
import { GatewayProblem } from './gateway-problem';
import type { PortalOperation } from './portal-operation';
import type { WritePlace } from './unanswered-writes';

export interface AskingOptions {
  /** Executes the query only if this is true. */
  readonly isEnabled?: boolean;
  /** Shows the previous answer while another one is awaited. */
  readonly keepsPrevious?: boolean;
  /** Repeats the query at this interval, while the page is visible. */
  readonly everyMs?: number;
}

/** Executes a query; an answer older than half a minute is requested again when it is shown again. */
export function useOperation<Result, Variables>(
  operation: PortalOperation<Result, Variables>,
  variables: Variables,
  { isEnabled = true, keepsPrevious = false, everyMs }: AskingOptions = {},
): UseQueryResult<Result, Error> {
  const gateway = useGateway();
  return useQuery({
    queryKey: [operation.name, variables],
    queryFn: ({ signal }) => gateway.execute(operation, variables, signal),
    enabled: isEnabled,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
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
  const queries = useQueryClient();
  const askAnew = async () => {
    await Promise.all(outdated.map((query) => queries.invalidateQueries({ queryKey: [query.name] })));
  };
  return useMutation({
    mutationFn: (variables: Variables) => gateway.executeText<Result>(text, variables, { name, keptIn }),
    onSuccess: askAnew,
    // After a change by somebody else, the current version is read before the refusal is shown.
    onError: async (fault) => {
      if (fault instanceof GatewayProblem && fault.code === 'VERSION_CONFLICT') await askAnew();
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
  told: (event: Result) => void,
  missed: () => void,
): void {
  const gateway = useGateway();
  const key = JSON.stringify(variables);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an object with the same values is no change.
  useEffect(
    () => gateway.follow(operation, variables, { told, missed }),
    [gateway, operation, key, told, missed],
  );
}
