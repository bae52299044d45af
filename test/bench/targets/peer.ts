/**
 * A service that a user might pick in place of ours. It is no dependency of the gateway: its folder of
 * `peers/` is copied to a cache and its packages are installed there, when it is asked for.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startTarget, stopTarget } from '../child-server.js';
import type { HttpRequest } from '../load/http-request.js';
import { addDays, type Dialect, type Mark } from '../questions.js';
import type { Target, TargetOptions } from './target.js';

const run = promisify(execFile);
const CACHE = 'node_modules/.cache/bench/peers';
const SOURCES = fileURLToPath(new URL('../peers', import.meta.url));

export interface Peer {
  readonly name: string;
  /** Of its folder. */
  readonly server: string;
  /** A command that makes it ready once its packages are installed. */
  readonly prepare?: readonly [program: string, ...parameters: string[]];
  readonly dialect: Dialect;
}

export async function startPeer(peer: Peer, { databaseUrl, poolSize }: TargetOptions): Promise<Target> {
  const directory = await installPeer(peer);
  const server = await startTarget(pathToFileURL(path.join(directory, peer.server)), {
    DATABASE_URL: databaseUrl,
    POOL_SIZE: String(poolSize),
    NODE_ENV: 'production',
    GRAPHILE_ENV: 'production',
  });
  return {
    name: peer.name,
    url: server.url,
    pid: server.process.pid ?? 0,
    dialect: peer.dialect,
    stop: () => stopTarget(server),
  };
}

/** Gives the folder of its packages. Installs again only when its package.json asks for other ones. */
export async function installPeer({ name, prepare }: Pick<Peer, 'name' | 'prepare'>): Promise<string> {
  const directory = path.resolve(CACHE, name);
  const note = path.join(directory, 'installed.json');
  const manifest = await readFile(path.join(SOURCES, name, 'package.json'), 'utf8');
  await mkdir(directory, { recursive: true });
  await cp(path.join(SOURCES, name), directory, { recursive: true });
  if (manifest !== (await readFile(note, 'utf8').catch(() => ''))) {
    process.stderr.write(`bench: installing ${name}\n`);
    const options = { cwd: directory };
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], options);
    if (prepare !== undefined) {
      const [program, ...parameters] = prepare;
      // Prisma has what it generates with in its package; it would fetch a program it does not need.
      const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: 'package.json' };
      await run(program, parameters, { ...options, env });
    }
    await writeFile(note, manifest);
  }
  return directory;
}

/** A request as GraphQL servers without credentials take it. */
export function askGraphql(query: string, variables: unknown): HttpRequest {
  return {
    method: 'POST',
    path: '/graphql',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  };
}

/** A mark as a row of the plain table, its columns named as GraphQL does. */
export function markAsRow({ student, day, class: className, section }: Mark) {
  return {
    created: `${day}T03:05:00.000Z`,
    student,
    class: className,
    section,
    status: 'present',
    markedBy: 'usr-admin',
  };
}

/** When days of the school begin and end. */
export function instantsOf({ from, to }: { readonly from: string; readonly to: string }) {
  return { from: startOfDay(from), before: startOfDay(addDays(to, 1)) };
}

function startOfDay(day: string): string {
  return `${day}T00:00:00+05:30`;
}
