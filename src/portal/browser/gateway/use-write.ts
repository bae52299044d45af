import { useState } from 'react';
import { useGateway } from './gateway-context';
import type { PortalOperation } from './portal-operation';

interface Written<Result> {
  readonly answer: Result;
  /** By which the write can be undone. */
  readonly requestId: string;
}

/**
 * Sends a write at once or not at all. A mutation of the library would wait for the network, and be done
 * when the page is long gone.
 */
export function useWrite<Result, Variables>(operation: PortalOperation<Result, Variables>) {
  const gateway = useGateway();
  const [problem, setProblem] = useState<Error | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const write = async (variables: Variables): Promise<Written<Result> | undefined> => {
    setIsBusy(true);
    setProblem(null);
    try {
      return await gateway.executeTraced(operation, variables, 'tab');
    } catch (error) {
      setProblem(error as Error);
      return undefined;
    } finally {
      setIsBusy(false);
    }
  };
  return { write, isBusy, problem };
}
