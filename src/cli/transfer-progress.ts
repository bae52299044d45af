import cliProgress from 'cli-progress';
import type { TransferStep } from '../services/backup/archive-writer.js';
import { printNote } from './console-output.js';

/** `total` is left out while the size of the transfer is unknown. */
type ShownStep = Omit<TransferStep, 'total'> & Partial<Pick<TransferStep, 'total'>>;

export interface TransferProgress {
  show(step: ShownStep): void;
  /** Writes a line, e.g. for a stage of unknown length. */
  note(line: string): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;

/**
 * Shows the progress of a backup, an import or the like, with its speed and the time left: a bar on a
 * terminal, a line every few seconds in a file or a log. `unit` is the counted unit, e.g. `rows`.
 */
export function showTransferProgress(task: string, unit: string): TransferProgress {
  const stream = process.stderr;
  const textOf = textsOfSteps(unit);
  if (!stream.isTTY) {
    let lastAt = performance.now();
    return {
      show(step) {
        const text = textOf(step);
        const now = performance.now();
        if (now - lastAt < LINE_EVERY_MS) return;
        lastAt = now;
        printNote(`${task}: ${text}`);
      },
      note: printNote,
      stop: () => {},
    };
  }
  const bar = new cliProgress.SingleBar(
    { format: `${task} {bar} {text}`, stream, barsize: 24, hideCursor: true, clearOnComplete: true },
    cliProgress.Presets.shades_classic,
  );
  return {
    show(step) {
      const { done, total } = step;
      if (!bar.isActive) bar.start(1, 0, { text: '' });
      // A bar that has no end yet stays empty.
      bar.setTotal(total === undefined ? Number.MAX_SAFE_INTEGER : Math.max(total, done, 1));
      bar.update(done, { text: textOf(step) });
    },
    note(line) {
      bar.stop();
      printNote(line);
    },
    stop: () => bar.stop(),
  };
}

/**
 * The texts of the steps of a transfer. The speed is that of this process: another one may have done a part
 * before. If the count falls, another collection has begun, and the speed is that of its rows. `now` is the
 * time in milliseconds.
 */
export function textsOfSteps(unit: string, now = () => performance.now()): (step: ShownStep) => string {
  let begun: { readonly done: number; readonly at: number } | undefined;
  let last = 0;
  return (step) => {
    if (begun === undefined || step.done < last) begun = { done: step.done, at: now() };
    last = step.done;
    const ms = now() - begun.at;
    return textOfStep(step, unit, ms > 0 ? (1000 * (step.done - begun.done)) / ms : 0);
  };
}

/**
 * `72,500 of 120,000 rows, 7,250 rows/s, 7 s left (attendance)`, as far as it is known. `speed` is that of a
 * second.
 */
export function textOfStep({ stage, done, total }: ShownStep, unit: string, speed: number): string {
  const count = (number: number) => Math.round(number).toLocaleString('en');
  const of = total === undefined ? '' : ` of ${count(total)}`;
  const left =
    total === undefined || speed <= 0 || done >= total
      ? ''
      : `, ${count(Math.max(total - done, 0) / speed)} s left`;
  const at = stage === '' ? '' : ` (${stage})`;
  return `${count(done)}${of} ${unit}, ${count(speed)} ${unit}/s${left}${at}`;
}
