import { performance } from 'node:perf_hooks';

/** How often it is looked whether there is little to do. */
const LOOK_EVERY_MS = 5_000;
/** The share of its time for which a process that has little to do is busy. */
const QUIET_UTILIZATION = 0.02;

export interface CollectOnceQuietOptions {
  readonly lookEveryMs?: number;
  /** The share of the time since it was asked last for which the process was busy. */
  readonly utilization?: () => number;
}

/**
 * Gives the memory back that a start has left behind, once there is little to do: a fifth of what the process
 * has. The engine collects when it needs room, and from then on after much work too, but a start ends before.
 * Once and no more, because what is collected so makes whatever comes next slower: a create of 10,000 records
 * took half as much processor time again.
 */
export async function collectOnceQuiet({
  lookEveryMs = LOOK_EVERY_MS,
  utilization = utilizationOfThisProcess(),
}: CollectOnceQuietOptions = {}): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (utilization() >= QUIET_UTILIZATION) return;
      clearInterval(timer);
      resolve();
    }, lookEveryMs);
    timer.unref();
  });
  await collectGarbage();
}

function utilizationOfThisProcess(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** Requested like a debugger does: the engine then also frees the space of young objects. */
async function collectGarbage(): Promise<void> {
  // An engine that was built without this keeps its memory.
  const inspector = await import('node:inspector/promises').catch(() => undefined);
  if (inspector === undefined) return;
  const session = new inspector.Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
