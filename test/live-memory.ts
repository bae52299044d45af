/** What is held in memory, without what only waits to be collected. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Takes some 100 ms: to be asked a few times of a long stream, not for every chunk. */
function countLiveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The most that is held at any look beyond what was held at the first. */
export class LiveMemory {
  readonly #before = countLiveBytes();
  #most = 0;

  look(): void {
    this.#most = Math.max(this.#most, countLiveBytes() - this.#before);
  }

  get mostMib(): number {
    return this.#most / 1024 / 1024;
  }
}
