/**
 * Parts of a long page, each drawn when it is near what is seen, and the others one after the other while
 * the browser has nothing else to do: all at once, what they ask and draw would hold up a phone for a second.
 * None is left out in the end, so that paper and the search of the browser have all of them.
 */
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
import { whenIdle } from './when-idle';
import { whenNear } from './when-near';

const TurnContext = createContext<TurnQueue | undefined>(undefined);

/** Around the parts that wait for each other. */
export function InTurns({ children }: { readonly children: ReactNode }) {
  const queue = useMemo(() => new TurnQueue(whenIdle), []);
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
