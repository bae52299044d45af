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
  /** Asks only when it holds. */
  readonly isEnabled?: boolean;
  /** Shows the answer to what was asked before while another one is waited for. */
  readonly keepsPrevious?: boolean;
  /** Asks again so often, while the page is looked at. */
  readonly everyMs?: number;
}

/** The answer to a query, asked again when it is older than half a minute and shown anew. */
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

/** A mutation, known again where `keptIn` says; after it the queries with these names are asked again. */
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
    // Somebody else has changed it: what is there now is read before the refusal is told.
    onError: async (fault) => {
      if (fault instanceof GatewayProblem && fault.code === 'VERSION_CONFLICT') await askAnew();
    },
  });
}

/**
 * Tells each event of a subscription for as long as the component is shown, and where some may have been
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
