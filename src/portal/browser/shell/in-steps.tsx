import { type ReactNode, startTransition, useEffect, useState } from 'react';

export interface InStepsProps {
  /** Stands there until the children are drawn. */
  readonly before: ReactNode;
  readonly children: ReactNode;
}

/**
 * Draws its children in steps, between which the browser answers touches, where React would draw what an
 * answer brings in one: a large form takes a slow phone a quarter of a second. A deferred value would not do
 * it here: steps within steps would all be put on the page at once.
 */
export function InSteps({ before, children }: InStepsProps) {
  const [isTurn, setIsTurn] = useState(false);
  useEffect(() => startTransition(() => setIsTurn(true)), []);
  return isTurn ? children : before;
}
