/**
 * Parts of a long page. Each is drawn when it is near the visible part of the page. The others follow one
 * after the other, while the browser is idle and no operation is pending: requesting and drawing all of them
 * at once would block a phone for a second, and delay the visible parts. In the end all parts are drawn, so
 * that the search of the browser finds them; before printing, all are drawn at once.
 */
import { useWindowEvent } from '@mantine/hooks';
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
import { flushSync } from 'react-dom';
import { type Answering, IdleQueue, whenAnswered } from './idle-queue';

interface Sections {
  readonly queue: IdleQueue;
  readonly operations: Answering;
  /** Functions that draw the parts that are not drawn yet. */
  readonly waiting: Set<() => void>;
}

/** The longest wait for answers before a page is printed. */
const LONGEST_WAIT_BEFORE_PRINT_MS = 30_000;

const SectionsContext = createContext<Sections | undefined>(undefined);

/** Contains the parts that wait for each other. */
export function LazySections({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient();
  const sections = useMemo(() => {
    const operations = {
      isWaiting: () => queries.isFetching() > 0,
      subscribe: (listener: () => void) => queries.getQueryCache().subscribe(listener),
    };
    const drawIdle = (then: () => void) => whenIdle(() => startTransition(then));
    const queue = new IdleQueue((then) => whenAnswered(operations, () => drawIdle(then)));
    return { operations, queue, waiting: new Set<() => void>() };
  }, [queries]);
  useWindowEvent('beforeprint', () => drawAll(sections));
  return <SectionsContext value={sections}>{children}</SectionsContext>;
}

/** Returns a function that draws all `LazySections`, waits for their answers, and prints the page. */
export function usePrintWhole(): () => void {
  const sections = useContext(SectionsContext);
  return () => {
    if (!sections) {
      window.print();
      return;
    }
    // When the browser is idle, it has drawn the last answer, which may contain parts that wait again.
    const print = () =>
      whenIdle(() => {
        if (sections.waiting.size > 0) drawAnswered();
        else window.print();
      });
    const drawAnswered = () => {
      drawAll(sections);
      whenAnswered(sections.operations, print, LONGEST_WAIT_BEFORE_PRINT_MS);
    };
    drawAnswered();
  };
}

function drawAll({ waiting }: Sections): void {
  flushSync(() => {
    for (const draw of waiting) draw();
  });
}

export interface LazySectionProps {
  /** Shown until the children are drawn. */
  readonly before: ReactNode;
  readonly children: ReactNode;
}

/** A part of the page; outside of `LazySections`, it is drawn at once. */
export function LazySection({ before, children }: LazySectionProps) {
  const sections = useContext(SectionsContext);
  const place = useRef<HTMLDivElement>(null);
  const [isDue, setIsDue] = useState(sections === undefined);
  useEffect(() => {
    if (isDue || !sections || !place.current) return undefined;
    const draw = () => setIsDue(true);
    const leave = sections.queue.wait(draw);
    sections.waiting.add(draw);
    const unwatch = whenNear(place.current, () => startTransition(draw));
    return () => {
      leave();
      sections.waiting.delete(draw);
      unwatch();
    };
  }, [isDue, sections]);
  return isDue ? children : <div ref={place}>{before}</div>;
}

/**
 * Draws its children one step later, so that the browser answers touches in between. In one step, React would
 * draw a large form for a quarter of a second on a slow phone. A deferred value does not help: nested steps
 * would all appear at once.
 */
export function Deferred({ before, children }: LazySectionProps) {
  const [isDue, setIsDue] = useState(false);
  useEffect(() => startTransition(() => setIsDue(true)), []);
  return isDue ? children : before;
}

/** The distance below the visible part that is reached by one scroll. */
const NEAR = '0px 0px 400px 0px';

/** Calls `then` while the element is visible or close to it. Returns a function that stops watching it. */
export function whenNear(element: Element, then: () => void): () => void {
  const observer = new IntersectionObserver(
    (entries) => entries.some(({ isIntersecting }) => isIntersecting) && then(),
    { rootMargin: NEAR },
  );
  observer.observe(element);
  return () => observer.disconnect();
}

/** The longest wait for an idle moment. */
const LONGEST_WAIT_MS = 1_000;

/** Safari does not report when it is idle. */
export function whenIdle(then: () => void): void {
  if ('requestIdleCallback' in window) window.requestIdleCallback(then, { timeout: LONGEST_WAIT_MS });
  else setTimeout(then, 50);
}

/** Renders its children only on paper. */
export function PrintedOnly({ children }: { readonly children: ReactNode }) {
  return useIsPrinted() ? children : null;
}

/** Whether the page is being printed. The browser prints only what is rendered at that moment. */
export function useIsPrinted(): boolean {
  const [isPrinted, setIsPrinted] = useState(false);
  useWindowEvent('beforeprint', () => flushSync(() => setIsPrinted(true)));
  useWindowEvent('afterprint', () => setIsPrinted(false));
  return isPrinted;
}
