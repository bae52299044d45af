/** What processes have used, as the system tells it; NaN where it has no /proc. */
import { readdir, readFile, writeFile } from 'node:fs/promises';

/** Of Linux on every machine we know; `getconf CLK_TCK` says it. */
const TICK_MS = 10;

interface ProcessStat {
  readonly parent: number;
  readonly ownMs: number;
  /** Of children that have ended and were waited for. */
  readonly endedMs: number;
}

/** Processor time of a process, its threads, and all processes below it, those that have ended included. */
export async function processorMs(pid: number): Promise<number> {
  const processes = await listProcesses();
  const root = processes.get(pid);
  if (root === undefined) return Number.NaN;
  const children = new Map<number, number[]>();
  for (const [id, { parent }] of processes) children.set(parent, [...(children.get(parent) ?? []), id]);
  const sum = (id: number): number => {
    const { ownMs, endedMs } = processes.get(id) ?? { ownMs: 0, endedMs: 0 };
    return ownMs + endedMs + (children.get(id) ?? []).reduce((total, child) => total + sum(child), 0);
  };
  return sum(pid);
}

/** The process that the system says has started this one. */
export async function parentOf(pid: number): Promise<number> {
  return (await readStat(pid))?.parent ?? Number.NaN;
}

/** Forgets the highest memory so far: from here on `highestMemory` counts anew. */
export async function forgetHighestMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {});
}

/** In bytes: what the process itself holds now. */
export async function residentMemory(pid: number): Promise<number> {
  return await readMemory(pid, 'VmRSS');
}

/** In bytes: the most the process itself held since `forgetHighestMemory`. */
export async function highestMemory(pid: number): Promise<number> {
  return await readMemory(pid, 'VmHWM');
}

async function readMemory(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) * 1024;
}

async function listProcesses(): Promise<ReadonlyMap<number, ProcessStat>> {
  const names = await readdir('/proc').catch(() => []);
  const found = new Map<number, ProcessStat>();
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readStat(Number(name));
    if (stat !== undefined) found.set(Number(name), stat);
  }
  return found;
}

async function readStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name of the program stands in parentheses and may hold anything.
  const fields = text?.slice(text.lastIndexOf(') ') + 2).split(' ');
  if (fields === undefined) return undefined;
  const ticks = (place: number) => Number(fields[place]) * TICK_MS;
  return { parent: Number(fields[1]), ownMs: ticks(11) + ticks(12), endedMs: ticks(13) + ticks(14) };
}
