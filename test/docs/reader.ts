/**
 * A reader at a shell, with the gateway of the tests for the one on port 4000: runs the commands of a
 * document in its order, and keeps the variables and files that one command leaves for the next.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from './project-files.js';

export interface ReaderOptions {
  readonly url: string;
  readonly databaseUrl: string;
  /** Of an admin, for documents that take it as given. */
  readonly token: string;
}

export interface Shown {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/**
 * curl says by its exit code, and in words, that an answer was an error. Without it a refusal would look like
 * success.
 */
const CURL = 'curl() { command curl --fail-with-body --show-error "$@"; }';

export class Reader implements AsyncDisposable {
  readonly #folder: string;
  readonly #options: ReaderOptions;

  private constructor(folder: string, options: ReaderOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** In a folder that looks like that of the gateway. The caller disposes of the reader. */
  static async create(options: ReaderOptions): Promise<Reader> {
    const folder = await mkdtemp(path.join(tmpdir(), 'campus-reader-'));
    for (const name of ['dist', 'node_modules', 'schema', 'package.json']) {
      await symlink(path.join(ROOT, name), path.join(folder, name));
    }
    return new Reader(folder, options);
  }

  async write(name: string, content: string): Promise<void> {
    await writeFile(path.join(this.#folder, name), content);
  }

  /** Runs commands to their end. */
  async run(commands: string): Promise<Shown> {
    for (const [, name = ''] of commands.matchAll(/@([\w-]+\.\w+)/g)) await this.write(name, `of ${name}\n`);
    const child = this.start(commands);
    const [output, errors, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.once('exit', resolve)),
    ]);
    return { code, output, errors };
  }

  /** Starts commands; the caller waits for their end, or ends them with all they have started. */
  start(commands: string) {
    const script = [
      'set -euo pipefail',
      'if [ -f .variables ]; then source .variables; fi',
      'set -a',
      CURL,
      this.#aimed(commands),
      'export -p > .variables',
    ].join('\n');
    return spawn('bash', ['-c', script], {
      cwd: this.#folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`,
        HOME: this.#folder,
        URL: this.#options.url,
        TOKEN: this.#options.token,
        DATABASE_URL: this.#options.databaseUrl,
        LOG_LEVEL: 'silent',
      },
    });
  }

  /** The address of the manual is that of a first start; here the gateway has another. */
  #aimed(commands: string): string {
    return commands.replaceAll('localhost:4000', new URL(this.#options.url).host);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Ends a process started by `Reader.start`, and those it has started. */
export function endGroup(child: ChildProcess): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
}
