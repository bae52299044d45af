import { useEffect, useState } from 'react';
import { useGateway } from './gateway-context';
import type { PortalOperation } from './portal-operation';

export interface OpenAnswer<Result> {
  /** Absent until the answer arrives. */
  readonly data?: Result;
  readonly problem?: Error;
}

/** Executes a query without a session, once: for pages that a mailed link leads to. */
export function useOpenOperation<Result, Variables>(
  operation: PortalOperation<Result, Variables>,
  variables: Variables,
): OpenAnswer<Result> {
  const gateway = useGateway();
  const [answer, setAnswer] = useState<OpenAnswer<Result>>({});
  const key = JSON.stringify(variables);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an object with the same values is no change.
  useEffect(() => {
    let isShown = true;
    gateway
      .executeOpenly(operation, variables)
      .then(
        (data): OpenAnswer<Result> => ({ data }),
        (problem: Error) => ({ problem }),
      )
      .then((next) => isShown && setAnswer(next));
    return () => {
      isShown = false;
    };
  }, [gateway, operation, key]);
  return answer;
}
