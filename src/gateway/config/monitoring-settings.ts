/** The settings of what the gateway tells its operators: log, metrics, traces. */
import {
  countSetting,
  flagSetting,
  httpAddressSetting,
  portSetting,
  secretSetting,
  wholeNumberSetting,
  wordSetting,
} from '../../base/settings.js';

export const MONITORING_SETTINGS = {
  logLevel: {
    variable: 'LOG_LEVEL',
    default: 'info',
    schema: wordSetting(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']),
    meaning: 'least severe line that is logged',
  },
  slowStatementMs: {
    variable: 'SLOW_STATEMENT_MS',
    default: '1000',
    schema: countSetting,
    meaning:
      'statements of the database that take longer are logged, with an index that would help; 0: none are',
  },
  serverTiming: {
    variable: 'SERVER_TIMING',
    default: 'true',
    schema: flagSetting,
    meaning: 'GraphQL: tell how long an answer took in the header Server-Timing',
  },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    schema: secretSetting(16).optional(),
    meaning:
      'asked for at /metrics, at least 16 characters, as Authorization: Bearer <token>; unset: ' +
      'anybody may read it',
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    schema: portSetting.optional(),
    meaning:
      'port of /metrics alone, on the same HOST, which PORT then does not serve; unset: PORT serves it',
  },
  traceEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    schema: httpAddressSetting('http://localhost:4318').optional(),
    meaning:
      'a collector of OpenTelemetry that takes traces by OTLP over HTTP, e.g. http://localhost:4318; ' +
      'unset: nothing is traced',
  },
  tracesPerSecond: {
    variable: 'TRACES_PER_SECOND',
    default: '1',
    schema: wholeNumberSetting(1, 1_000_000),
    meaning:
      'requests a second that each process tells of, those that bring a traceparent among them; after a ' +
      'pause ten times as many at once',
  },
} as const;
