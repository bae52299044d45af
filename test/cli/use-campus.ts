import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import { type Ended, environmentOf, type RunOptions } from './campus.js';

const HOST = fileURLToPath(new URL('./command-host.mjs', import.meta.url));

/**
 * Runs the commands of a test file one after the other in one process (command-host.mjs), for half of what
 * they cost otherwise. What a process alone can show, such as signals and broken pipes, is for campus.ts.
 */
export function useCampus(): (words: readonly string[], options?: RunOptions) => Promise<Ended> {
  let host: ChildProcess | undefined;
  let former: Promise<unknown> = Promise.resolve();
  afterAll(async () => {
    // Commands that take their time listen to the milder signals.
    if (host?.kill('SIGKILL')) await once(host, 'exit');
  });
  return (words, options = {}) => {
    host ??= fork(HOST, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const process = host;
    const ended = former.then(() => runIn(process, words, options));
    former = ended.catch(() => {});
    return ended;
  };
}

async function runIn(host: ChildProcess, words: readonly string[], options: RunOptions): Promise<Ended> {
  const { environment, input = '' } = options;
  const listening = new AbortController();
  const { signal } = listening;
  host.send({ words, environment: environmentOf(environment), input });
  try {
    const [ended] = await Promise.race([
      once(host, 'message', { signal }),
      once(host, 'exit', { signal }).then(([code]) => {
        throw new Error(`\`campus ${words.join(' ')}\` has ended the process, with ${code}`);
      }),
    ]);
    return ended;
  } finally {
    listening.abort();
  }
}
