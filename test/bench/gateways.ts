/**
 * What a setting costs: gateways that differ by settings alone are asked the same by turns, and what counts
 * is the processor time that a request takes of them and of PostgreSQL.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Table from 'cli-table3';
import { findPostmaster } from './find-postmaster.js';
import { putLoad, writeRequests } from './load/load.js';
import { median } from './median.js';
import { processorMs } from './process-usage.js';
import { FIRST_CREATED_DAY, prepareSchool, removeCreated } from './school.js';
import { startGateway } from './targets/gateway.js';
import type { Target } from './targets/target.js';
import { type LoadWorkload, listWorkloads } from './workloads.js';

const ATTENDANCE = { students: 1500, days: 20 };
const CONNECTIONS = 16;
const SECONDS = 2;
const ROUNDS = 9;

export interface GatewaysOptions {
  readonly databaseUrl: string;
  /** The settings of each by its name in the table; the others are told against the first. */
  readonly gateways: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** By their names. */
  readonly workloads: readonly string[];
}

/** Prints the table. */
export async function compareGateways({ databaseUrl, gateways, workloads }: GatewaysOptions): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'campus-gateways-'));
  const key = await prepareSchool(databaseUrl, ATTENDANCE);
  const postmaster = await findPostmaster(databaseUrl);
  const started = new Map<string, readonly Target[]>();
  try {
    for (const [name, settings] of gateways) {
      const options = { databaseUrl, key, directory, poolSize: 16, workers: 1 };
      started.set(name, await startGateway({ ...options, settings, name }));
    }
    const table = new Table({
      style: { head: [], border: [], compact: true },
      head: ['ms a request: gateway + PostgreSQL', ...gateways.keys()],
    });
    for (const workload of listWorkloads(ATTENDANCE, [])) {
      if (workload.kind !== 'load' || !workloads.includes(workload.name)) continue;
      for (const dialect of ['rest', 'graphql'])
        table.push([`${workload.title}, ${dialect}`, ...(await measure(workload, dialect))]);
    }
    process.stdout.write(`${table.toString()}\n`);
  } finally {
    for (const [target] of started.values()) await target?.stop();
    await rm(directory, { recursive: true, force: true });
  }

  async function measure(workload: LoadWorkload, dialect: string): Promise<readonly string[]> {
    process.stderr.write(`bench: ${workload.title}, ${dialect}\n`);
    const rounds: ReadonlyMap<string, Cost>[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const costs = new Map<string, Cost>();
      // Whoever comes after whom is another in each round.
      const turns = [...started];
      for (const [name, targets] of [...turns.slice(round % turns.length), ...turns].slice(0, turns.length)) {
        const target = targets.find((one) => one.name === dialect);
        if (target === undefined) throw new Error(`no gateway is asked by ${dialect}`);
        costs.set(name, await costOf(workload, target));
        if (workload.creates) await removeCreated(databaseUrl);
      }
      // The first round is for what is compiled and filled at its first use.
      if (round > 0) rounds.push(costs);
    }
    return [...gateways.keys()].map((name) => tell(rounds, name));
  }

  async function costOf(workload: LoadWorkload, target: Target): Promise<Cost> {
    const requests = path.join(directory, 'requests');
    await writeRequests(requests, workload.requests(target.dialect), new URL(target.url).host);
    const [serverBefore, databaseBefore] = [await processorMs(target.pid), await processorMs(postmaster)];
    const { requests: answered } = await putLoad({
      ...{ url: target.url, requests, connections: CONNECTIONS, seconds: SECONDS },
      marks: workload.creates ? FIRST_CREATED_DAY : undefined,
    });
    const [serverAfter, databaseAfter] = [await processorMs(target.pid), await processorMs(postmaster)];
    return {
      server: (serverAfter - serverBefore) / answered,
      database: (databaseAfter - databaseBefore) / answered,
    };
  }

  /** Medians of the rounds; what is more is taken within a round. */
  function tell(rounds: readonly ReadonlyMap<string, Cost>[], name: string): string {
    const [first = ''] = gateways.keys();
    const of = (part: keyof Cost) => median(rounds.map((costs) => costs.get(name)?.[part] ?? Number.NaN));
    const more = median(rounds.map((costs) => sumOf(costs.get(name)) / sumOf(costs.get(first)) - 1));
    const figures = `${of('server').toFixed(3)} + ${of('database').toFixed(3)}`;
    return name === first ? figures : `${figures} (${(more * 100).toFixed(1)} % more)`;
  }
}

/** Processor time of a request, in milliseconds. */
interface Cost {
  readonly server: number;
  readonly database: number;
}

function sumOf(cost: Cost | undefined): number {
  return cost === undefined ? Number.NaN : cost.server + cost.database;
}
