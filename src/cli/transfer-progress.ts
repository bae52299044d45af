import cliProgress from 'cli-progress';
import type { TransferStep } from '../backup/transfer-step.js';

export interface TransferProgress {
  show(step: TransferStep): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;
const KEPT_SPEEDS = 100;

/**
 * How a backup or a restore is coming along: a bar with its speed and the time left on a terminal, a line
 * every few seconds in a file or a log. `unit` is what is counted, e.g. `rows`.
 */
export function showTransferProgress(
  stream: NodeJS.WriteStream,
  task: string,
  unit: string,
): TransferProgress {
  return stream.isTTY ? showBar(stream, task, unit) : writeLines(stream, task, unit);
}

function showBar(stream: NodeJS.WriteStream, task: string, unit: string): TransferProgress {
  const startedAt = performance.now();
  const bar = new cliProgress.SingleBar(
    {
      format: `${task} {bar} {percentage}% {value} ${unit}, {rate} ${unit}/s, {eta_formatted} left  {stage}`,
      stream,
      barsize: 24,
      hideCursor: true,
      clearOnComplete: true,
      etaBuffer: KEPT_SPEEDS,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(1, 0, { stage: '', rate: '0' });
  return {
    show({ stage, done, total }) {
      const seconds = (performance.now() - startedAt) / 1000;
      bar.setTotal(Math.max(total, done, 1));
      bar.update(done, { stage, rate: Math.round(done / seconds).toLocaleString('en') });
    },
    stop: () => bar.stop(),
  };
}

function writeLines(stream: NodeJS.WriteStream, task: string, unit: string): TransferProgress {
  let lastAt = performance.now();
  return {
    show({ stage, done, total }) {
      const now = performance.now();
      if (now - lastAt < LINE_EVERY_MS) return;
      lastAt = now;
      stream.write(
        `campus: ${task}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit} (${stage})\n`,
      );
    },
    stop: () => {},
  };
}
