import cliProgress from 'cli-progress';
import type { LoadProgress } from '../school/demo/load.js';

const LINE_EVERY_MS = 5_000;

export interface SeedProgress {
  show(progress: LoadProgress): void;
  /** A stage whose length nobody knows. */
  tell(stage: string): void;
  stop(): void;
}

/** How the demo school is coming along: a bar on a terminal, lines in a file or a log. */
export function showSeedProgress(stream: NodeJS.WriteStream): SeedProgress {
  return stream.isTTY ? new Bar(stream) : new Lines(stream);
}

class Bar implements SeedProgress {
  readonly #bar: cliProgress.SingleBar;
  readonly #stream: NodeJS.WriteStream;
  #collection = '';

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#bar = new cliProgress.SingleBar(
      {
        format: '{bar} {percentage}% {collection}  {value} of {total}',
        stream,
        barsize: 30,
        hideCursor: true,
        clearOnComplete: true,
      },
      cliProgress.Presets.shades_classic,
    );
  }

  show({ collection, done, total }: LoadProgress): void {
    if (collection === this.#collection) this.#bar.update(done, { collection });
    else this.#bar.start(total, done, { collection });
    this.#collection = collection;
  }

  tell(stage: string): void {
    this.stop();
    this.#stream.write(`campus: ${stage}\n`);
  }

  stop(): void {
    this.#bar.stop();
    this.#collection = '';
  }
}

class Lines implements SeedProgress {
  readonly #stream: NodeJS.WriteStream;
  #last: { readonly collection: string; readonly at: number } | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  show({ collection, done, total }: LoadProgress): void {
    const now = performance.now();
    const isNews = this.#last?.collection !== collection || now - this.#last.at >= LINE_EVERY_MS;
    if (!isNews && done < total) return;
    this.#last = { collection, at: now };
    this.tell(`${collection}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`);
  }

  tell(stage: string): void {
    this.#stream.write(`campus: ${stage}\n`);
  }

  stop(): void {}
}
