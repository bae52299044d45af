/**
 * Parts of a long page. Each is drawn when it is near the visible part of the page. The others follow one
 * after the other, while the browser is idle and no operation waits for its answer: requesting and drawing
 * all of them at once would block a phone for a second, and keep the gateway from answering what is seen
 * first. In the end all parts are drawn, so that the printer and the search of the browser find them.
 */
import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  startTransition,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { TurnQueue } from './turn-queue';
import { whenAnswered } from './when-answered';
import { whenIdle } from './when-idle';
import { whenNear } from './when-near';

const TurnContext = createContext<TurnQueue | undefined>(undefined);

/** Around the parts that wait for each other. */
export function InTurns({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient();
  const queue = useMemo(() => {
    const operations = {
      isWaiting: () => queries.isFetching() > 0,
      subscribe: (listener: () => void) => queries.getQueryCache().subscribe(listener),
    };
    return new TurnQueue((then) => whenAnswered(operations, () => whenIdle(then)));
  }, [queries]);
  return <TurnContext value={queue}>{children}</TurnContext>;
}

export interface InTurnProps {
  /** Stands there until the turn has come. */
  readonly before: ReactNode;
  readonly children: ReactNode;
}

/** A part of the page; outside of `InTurns`, its turn has come. */
export function InTurn({ before, children }: InTurnProps) {
  const queue = useContext(TurnContext);
  const place = useRef<HTMLDivElement>(null);
  const [isDue, setIsDue] = useState(queue === undefined);
  useEffect(() => {
    if (isDue || !queue || !place.current) return undefined;
    const take = () => startTransition(() => setIsDue(true));
    const leave = queue.wait(take);
    const unwatch = whenNear(place.current, take);
    return () => {
      leave();
      unwatch();
    };
  }, [isDue, queue]);
  return isDue ? children : <div ref={place}>{before}</div>;
}
