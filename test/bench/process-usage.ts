/** What processes have used, as the system tells it; NaN where it has no /proc. */
import { readdir, readFile, writeFile } from 'node:fs/promises';

/** Of Linux on every machine we know; `getconf CLK_TCK` says it. */
const TICK_MS = 10;

export interface ProcessStat {
  readonly parent: number;
  readonly ownMs: number;
  /** Of children that have ended and were waited for. */
  readonly endedMs: number;
}

/** Processor time of a process, its threads, and all processes below it, those that have ended included. */
export async function processorMs(pid: number): Promise<number> {
  const tree = await listTree(pid);
  if (tree.size === 0) return Number.NaN;
  return [...tree.values()].reduce((total, { ownMs, endedMs }) => total + ownMs + endedMs, 0);
}

/** The process that the system says has started this one. */
export async function parentOf(pid: number): Promise<number> {
  return (await readStat(pid))?.parent ?? Number.NaN;
}

/** Forgets the highest memory so far: from here on `highestMemory` counts anew. */
export async function forgetHighestMemory(pid: number): Promise<void> {
  for (const id of (await listTree(pid)).keys())
    await writeFile(`/proc/${id}/clear_refs`, '5').catch(() => {});
}

/** In bytes: what the process and all below it hold now. */
export async function residentMemory(pid: number): Promise<number> {
  return await sumMemory(pid, 'VmRSS');
}

/** In bytes: the most the process and all below it held, each at its time, since `forgetHighestMemory`. */
export async function highestMemory(pid: number): Promise<number> {
  return await sumMemory(pid, 'VmHWM');
}

async function sumMemory(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const tree = await listTree(pid);
  if (tree.size === 0) return Number.NaN;
  let bytes = 0;
  for (const id of tree.keys()) bytes += await readMemory(id, name);
  return bytes;
}

async function readMemory(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** The process and all below it. */
export async function listTree(pid: number): Promise<ReadonlyMap<number, ProcessStat>> {
  const processes = await listProcesses();
  const tree = new Map<number, ProcessStat>();
  const add = (id: number) => {
    const stat = processes.get(id);
    if (stat === undefined) return;
    tree.set(id, stat);
    for (const [child, { parent }] of processes) if (parent === id) add(child);
  };
  add(pid);
  return tree;
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
