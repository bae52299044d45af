/** The log: one JSON object per line. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { traceOfLogLine } from '../../../base/process/traced.js';
import { LogOutput } from './log-output.js';

/** @see observation.ts (the lines that are written) */
export function createLogger(options: {
  readonly level: string;
  readonly destination: DestinationStream;
  /** Whether lines name their trace. */
  readonly isTracing?: boolean;
}): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      ...(options.isTracing && { mixin: traceOfLogLine, mixinMergeStrategy: mergeTrace }),
    },
    options.destination,
  );
}

/** Most lines have no trace, and are not copied. */
function mergeTrace(line: object, found: object): object {
  return 'traceId' in found ? { ...found, ...line } : line;
}

/** Standard output as the destination of the log; the gateway continues whatever happens to it. */
export function openStandardOutput(): LogOutput {
  // Accessing Node's stream makes a pipe non-blocking. Its errors are handled by the log itself.
  process.stdout.on('error', () => {});
  return new LogOutput({
    fd: process.stdout.fd,
    onTrouble: (sentence) => process.stderr.write(`campus: ${sentence}\n`),
  });
}
