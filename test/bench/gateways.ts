/**
 * What a setting costs: gateways that differ by settings alone are asked the same by turns, and what counts
 * is the processor time that a request takes of them and of PostgreSQL. In each round they are asked in order
 * and then backwards, so that what grows from one to the next, such as the machine's other work, falls on all
 * alike; they are told against the first of the same round.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Table from 'cli-table3';
import { findCores, keepOnCores } from './cores.js';
import { findPostmaster } from './find-postmaster.js';
import { putLoad, writeRequests } from './load/load.js';
import { median, medianInterval } from './median.js';
import { processorMs } from './process-usage.js';
import { FIRST_CREATED_DAY, prepareSchool, removeCreated } from './school.js';
import { startGateway } from './targets/gateway.js';
import type { Target } from './targets/target.js';
import { type LoadWorkload, listWorkloads } from './workloads.js';

const ATTENDANCE = { students: 1500, days: 20 };
const CONNECTIONS = 16;
const SECONDS = 1;
const ROUNDS = 12;

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
  const keys = await prepareSchool(databaseUrl, ATTENDANCE);
  const postmaster = await findPostmaster(databaseUrl);
  const started = new Map<string, readonly Target[]>();
  try {
    for (const [name, settings] of gateways) {
      const options = { databaseUrl, keys, directory, poolSize: 16, workers: 1 };
      started.set(name, await startGateway({ ...options, settings, name }));
    }
    const cores = await findCores();
    const measured = [postmaster, ...[...started.values()].flatMap(([target]) => target?.pid ?? [])];
    if (cores) await keepOnCores(cores.measured, ...measured);
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
      const all = [...started];
      const turns = [...all.slice(round % all.length), ...all].slice(0, all.length);
      for (const [name, targets] of [...turns, ...turns.toReversed()]) {
        const target = targets.find((one) => one.name === dialect);
        if (target === undefined) throw new Error(`no gateway is asked by ${dialect}`);
        costs.set(name, add(costs.get(name), await costOf(workload, target)));
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
      cores: (await findCores())?.load,
    });
    const [serverAfter, databaseAfter] = [await processorMs(target.pid), await processorMs(postmaster)];
    return {
      answered,
      serverMs: serverAfter - serverBefore,
      databaseMs: databaseAfter - databaseBefore,
    };
  }

  /** Medians of the rounds; what is more is taken within a round, with the interval its median lies in. */
  function tell(rounds: readonly ReadonlyMap<string, Cost>[], name: string): string {
    const [first = ''] = gateways.keys();
    const of = (part: (cost: Cost) => number) => rounds.map((costs) => perRequest(costs.get(name), part));
    const more = rounds.map(
      (costs) =>
        perRequest(costs.get(name), gatewayAndDatabase) / perRequest(costs.get(first), gatewayAndDatabase) -
        1,
    );
    const figures =
      `${median(of(({ serverMs }) => serverMs)).toFixed(3)} + ` +
      median(of(({ databaseMs }) => databaseMs)).toFixed(3);
    if (name === first) return figures;
    const [least, most] = medianInterval(more);
    return `${figures} (${percent(median(more))}, ${percent(least)} to ${percent(most)} more)`;
  }
}

/** Processor time of those that were answered. */
interface Cost {
  readonly answered: number;
  readonly serverMs: number;
  readonly databaseMs: number;
}

function add(one: Cost | undefined, other: Cost): Cost {
  if (one === undefined) return other;
  return {
    answered: one.answered + other.answered,
    serverMs: one.serverMs + other.serverMs,
    databaseMs: one.databaseMs + other.databaseMs,
  };
}

function perRequest(cost: Cost | undefined, part: (cost: Cost) => number): number {
  return cost === undefined ? Number.NaN : part(cost) / cost.answered;
}

function gatewayAndDatabase({ serverMs, databaseMs }: Cost): number {
  return serverMs + databaseMs;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
