/** What `npm pack` makes, away from the repository: `.ci/package` installs it with its dependencies. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import module from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundledName, THREAD_MODULES } from '../../src/base/process/thread-module.js';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { expectEventually } from '../expect-eventually.js';
import { freePort } from '../free-port.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let database: TestDatabase;
let packed: readonly string[];

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'campus-package-'));
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [{ files }] = JSON.parse(await outputOf('npm', words, REPOSITORY));
  packed = files.map((file: { path: string }) => file.path);
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
  await outputOf('tar', ['-xzf', archive], folder);
  await symlink(path.join(REPOSITORY, 'node_modules'), path.join(folder, 'node_modules'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

async function outputOf(program: string, words: readonly string[], cwd: string): Promise<string> {
  const child = spawn(program, words, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  return output;
}

describe('the package', () => {
  it('has what the gateway reads at run time', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'dist/main.js',
        'dist/program/program.js',
        ...THREAD_MODULES.map((name) => `dist/program/${bundledName(name)}.js`),
        'prisma/schema.prisma',
        'schema/collections/task.json',
        'schema/openapi.json',
        '.env.example',
        'LICENSE',
        'CHANGELOG.md',
      ]),
    );
  });

  it('has neither sources nor tests, nor anything of whoever packs it', () => {
    const unwanted =
      /^(src|test|docs|node_modules|dist\/compile-cache|\.data|\.ci|\.github)\/|^\.env$|\.(tsbuildinfo|log)$/;
    expect(packed.filter((name) => unwanted.test(name))).toEqual([]);
  });

  it('tells its version and its commands', async () => {
    const program = path.join(folder, 'package/dist/main.js');
    expect(await outputOf(process.execPath, [program, '--version'], folder)).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await outputOf(process.execPath, [program, '--help'], folder)).toMatch(/^Usage: campus/);
  });

  const whereNodeCan = 'enableCompileCache' in module ? it : it.skip;
  whereNodeCan('keeps what V8 compiled of it, for the next start (Node from 22.1 on)', async () => {
    await outputOf(process.execPath, [path.join(folder, 'package/dist/main.js'), '--version'], folder);
    expect(await readdir(path.join(folder, 'package/dist/compile-cache'))).not.toEqual([]);
  });

  it('starts a gateway that answers, with its pages, and stops it', async () => {
    const port = String(await freePort());
    const program = path.join(folder, 'package/dist/main.js');
    const gateway = spawn(process.execPath, [program, 'start'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.url,
        DEMO: 'false',
        LOG_LEVEL: 'silent',
        HOST: '127.0.0.1',
        PORT: port,
      },
      stdio: 'ignore',
    });
    const ended = once(gateway, 'exit');
    try {
      const statusOf = async (place: string) => (await fetch(`http://127.0.0.1:${port}${place}`)).status;
      await expectEventually(() => statusOf('/readyz').catch(() => 0), 200, 60_000);
      for (const place of ['/explore', '/manual/', '/openapi.json']) {
        expect([place, await statusOf(place)]).toEqual([place, 200]);
      }
    } finally {
      gateway.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });
});
