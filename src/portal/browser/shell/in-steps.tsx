import { type ReactNode, useDeferredValue } from 'react';

export interface InStepsProps {
  /** Stands there until the children are drawn. */
  readonly before: ReactNode;
  readonly children: ReactNode;
}

/**
 * Draws its children in steps, between which the browser answers touches, where React would draw what an
 * answer brings in one: a large form takes a slow phone a quarter of a second.
 */
export function InSteps({ before, children }: InStepsProps) {
  const isTurn = useDeferredValue(true, false);
  return isTurn ? children : before;
}
