/** The command line as its users meet it: the built program, run as a process. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** What is typed. Default: nothing, as from a script. */
  readonly input?: string;
}

/** Runs `campus <words>` to its end. */
export async function campus(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = startCampus(words, options.environment);
  child.stdin.end(options.input ?? '');
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ]);
  return { code, output, errors };
}

export function startCampus(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [PROGRAM, ...words], { env: environmentOf(environment), stdio: 'pipe' });
}

/** What a command of the tests finds in its environment, whatever stands in that of the tests. */
export function environmentOf(environment: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...environment };
}

/** Runs a line of bash, in which `"$0" "$1"` are what start `campus`; nothing of its output is read. */
export function startShell(line: string, environment: Readonly<Record<string, string>>): ChildProcess {
  return spawn('bash', ['-c', line, process.execPath, PROGRAM], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: 'ignore',
  });
}
