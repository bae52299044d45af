/** How much processor time this thread has had. */
import { openSync, readSync } from 'node:fs';

/**
 * A clock of the calling thread, in milliseconds; `undefined` where the system has none (anything but Linux). On a busy machine a
 * thread waits for its turn: by the clock on the wall an innocent script would have used up its time.
 */
export function openThreadClock(): (() => number) | undefined {
  if (process.platform !== 'linux') return undefined;
  let file: number;
  try {
    file = openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
  const buffer = Buffer.alloc(64);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    // Nanoseconds on a processor come first.
    return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6;
  };
}
