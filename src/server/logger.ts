/** The log: one JSON object a line. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { SECRET_MEMBERS } from './redaction.js';

/** `destination` absent: standard output. @see observation.ts for the lines that are written */
export function createLogger(o: {
  readonly level: string;
  readonly destination?: DestinationStream;
}): Logger {
  return pino(
    {
      level: o.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...SECRET_MEMBERS], censor: '[redacted]' },
    },
    // Lines are gathered for a moment: a write for each request would cost more than the request's own work.
    o.destination ?? pino.destination({ sync: false, minLength: 4096, periodicFlush: 1000 }),
  );
}
