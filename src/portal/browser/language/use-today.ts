import { useSyncExternalStore } from 'react';
import { useFormats } from './use-formats';

const LOOK_EVERY_MS = 10_000;

/** The day it is now at the school, `YYYY-MM-DD`: a page open over midnight goes on to the next. */
export function useToday(): string {
  const formats = useFormats();
  return useSyncExternalStore(lookNowAndThen, () => formats.today);
}

function lookNowAndThen(onLook: () => void): () => void {
  const timer = setInterval(onLook, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
