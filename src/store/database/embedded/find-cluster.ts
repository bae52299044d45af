/** `postgres.json` in the data directory: what the embedded server must remember about its cluster. */
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isNativeError } from 'node:util/types';
import { z } from 'zod';
import { unavailable } from '../../../base/errors.js';

export interface Cluster {
  readonly directory: string;
  /** The last port, tried first, so that addresses people wrote down remain valid. */
  readonly port: number;
  readonly password: string;
}

const MAJOR_VERSION = '18';

const CLUSTER = z.object({ directory: z.string().min(1), port: z.int(), password: z.string().min(1) });

/**
 * The cluster of a data directory; `undefined` if none has been created there.
 *
 * @throws UNAVAILABLE for one that cannot be used: nothing is changed, so that its owner can repair it
 */
export async function findCluster(dataDirectory: string): Promise<Cluster | undefined> {
  const file = clusterFile(dataDirectory);
  const text = await readIfPresent(file);
  if (text === undefined) {
    const orphan = path.join(dataDirectory, 'postgres');
    if (!(await isMissing(orphan))) {
      throw unavailable(`${file} is missing: it holds the password of the database in ${orphan}.`);
    }
    return undefined;
  }
  const { directory, ...others } = parseCluster(text, file);
  const cluster = { ...others, directory: path.resolve(dataDirectory, directory) };
  const version = await readIfPresent(path.join(cluster.directory, 'PG_VERSION'));
  if (version === undefined) {
    // An interrupted first start leaves the file without the folder, and is repeated.
    if ((await readdir(cluster.directory).catch(() => [])).length === 0) return undefined;
    throw unavailable(
      `${cluster.directory} holds no PostgreSQL database (PG_VERSION is missing); restore the folder from ` +
        'a copy, or name another DATA_DIRECTORY.',
    );
  }
  if (version.trim() !== MAJOR_VERSION) {
    throw unavailable(
      `The database in ${cluster.directory} was made by PostgreSQL ${version.trim()}, this gateway has ` +
        `${MAJOR_VERSION}: back it up with the version of the gateway that made it (campus backup), and ` +
        'restore the backup into a new data directory (campus restore).',
    );
  }
  return cluster;
}

/** Replaces the file as a whole. */
export async function writeCluster(dataDirectory: string, cluster: Cluster): Promise<void> {
  const target = clusterFile(dataDirectory);
  const relative = path.relative(dataDirectory, cluster.directory);
  const directory = relative.startsWith('..') ? cluster.directory : relative;
  const { port, password } = cluster;
  const text = `${JSON.stringify({ directory, port, password }, undefined, 2)}\n`;
  await writeFile(`${target}.new`, text, { mode: 0o600, flush: true });
  await rename(`${target}.new`, target);
}

function clusterFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'postgres.json');
}

function parseCluster(text: string, file: string): Cluster {
  try {
    return CLUSTER.parse(JSON.parse(text));
  } catch (cause) {
    throw unavailable(
      `${file} is damaged: it must be JSON with "directory", "port" and "password", the password of the ` +
        'database beside it; restore this file from a copy.',
      cause,
    );
  }
}

/** A file that exists but cannot be read is not the same as a missing one. */
async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isNativeError(error) && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function isMissing(location: string): Promise<boolean> {
  return await stat(location).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
