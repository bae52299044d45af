/** The log: one JSON object a line. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { traceOfLogLine } from '../traced.js';
import { LogOutput } from './log-output.js';
import { SECRET_MEMBERS } from './redact-secrets.js';

/** @see observation.ts (the lines that are written) */
export function createLogger(options: {
  readonly level: string;
  readonly destination: DestinationStream;
  /** Whether a line says of which trace it is. */
  readonly isTracing?: boolean;
}): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
      ...(options.isTracing && { mixin: traceOfLogLine, mixinMergeStrategy: mergeTrace }),
      redact: { paths: [...SECRET_MEMBERS], censor: '[redacted]' },
    },
    options.destination,
  );
}

/** Most lines are of no trace, and are not copied for it. */
function mergeTrace(line: object, found: object): object {
  return 'traceId' in found ? { ...found, ...line } : line;
}

/** As `pino.stdTimeFunctions.isoTime` writes it. Many requests end in the same millisecond, and share it. */
function createTimestamp(): () => string {
  let writtenAt = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== writtenAt) {
      writtenAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** Standard output as a place for the log: whatever becomes of it, the gateway goes on. */
export function openStandardOutput(): LogOutput {
  // Asking Node for its stream makes a pipe one that does not block, and its errors are the log's own to
  // tell.
  process.stdout.on('error', () => {});
  return new LogOutput({
    fd: process.stdout.fd,
    onTrouble: (sentence) => process.stderr.write(`campus: ${sentence}\n`),
  });
}
