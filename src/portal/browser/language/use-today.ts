import { useSyncExternalStore } from 'react';
import { useFormats } from './use-formats';

const LOOK_EVERY_MS = 10_000;

/** The current day at the school, `YYYY-MM-DD`. It changes at midnight while a page is open. */
export function useToday(): string {
  const formats = useFormats();
  return useSyncExternalStore(lookNowAndThen, () => formats.today);
}

function lookNowAndThen(onLook: () => void): () => void {
  const timer = setInterval(onLook, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
