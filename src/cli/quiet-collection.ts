import { performance } from 'node:perf_hooks';

/** How often it is looked whether there is little to do. */
const LOOK_EVERY_MS = 5_000;
/** The share of its time for which a process that has little to do is busy. */
const QUIET_UTILIZATION = 0.02;
/**
 * A collection holds the process up for a fifth of a second: it is made when it may give back as much as
 * this, which a few requests do not need.
 */
const WORTH_BYTES = 48 * 1024 ** 2;

/** What a collection is decided by, and how it is made. */
export interface QuietCollectionOptions {
  /** The share of the time since it was asked last for which the process was busy. */
  readonly utilization: () => number;
  /** The memory that the process has. */
  readonly residentBytes: () => number;
  readonly collect: () => Promise<void>;
}

/**
 * Gives the memory back that a start, or much work, has left behind. The engine collects when it needs room,
 * which a process that has little to do does not: after a start a fifth of its memory is garbage.
 */
export class QuietCollection {
  readonly #options: QuietCollectionOptions;
  /** What the last collection left. */
  #leftBytes = 0;

  constructor(options: QuietCollectionOptions) {
    this.#options = options;
  }

  /** Looks again and again until the process ends, which it does not hold up. */
  static begin(): void {
    const collection = new QuietCollection(ofThisProcess());
    // An engine that was built without what is asked for here keeps its memory.
    const timer = setInterval(() => void collection.look().catch(() => clearInterval(timer)), LOOK_EVERY_MS);
    timer.unref();
  }

  /** Collects if there has been little to do and memory has grown since the last time. */
  async look(): Promise<void> {
    const { utilization, residentBytes, collect } = this.#options;
    const isQuiet = utilization() < QUIET_UTILIZATION;
    if (!isQuiet || residentBytes() < this.#leftBytes + WORTH_BYTES) return;
    await collect();
    this.#leftBytes = residentBytes();
  }
}

function ofThisProcess(): QuietCollectionOptions {
  let last = performance.eventLoopUtilization();
  return {
    utilization() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    residentBytes: () => process.memoryUsage.rss(),
    collect: collectGarbage,
  };
}

/** As a debugger would ask for it: the engine then gives back the room for young objects, too. */
export async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
