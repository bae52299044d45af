import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../../src/base/errors.js';
import { createLogger } from '../../../../src/gateway/server/observation/logger.js';
import { Metrics } from '../../../../src/gateway/server/observation/metrics.js';
import {
  createEventLog,
  createObserver,
  type Observation,
} from '../../../../src/gateway/server/observation/observation.js';

const KEY_METER = { note: () => undefined };

const ENDED: Observation = {
  kind: 'requestEnded',
  requestId: 'r1',
  method: 'GET',
  url: '/o/recs/task',
  route: '/o/recs/:collection',
  status: 200,
  durationMs: 1,
  address: '127.0.0.1',
  principal: undefined,
  credential: undefined,
  operation: undefined,
  cost: undefined,
  errorCode: undefined,
  isComplete: true,
};

describe('a line of the log', () => {
  it('says when it was written, also where another was in the same millisecond', () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    const before = Date.now();
    logger.info('first');
    logger.info('second');
    while (Date.now() < before + 2) logger.info('later');
    logger.info('last');
    const after = Date.now();
    const times = lines.map((line) => String(JSON.parse(line).time));
    expect(times).toEqual(times.map((time) => new Date(time).toISOString()));
    expect(times).toEqual([...times].sort());
    expect(Date.parse(times[0] ?? '')).toBeGreaterThanOrEqual(before);
    expect(Date.parse(times.at(-1) ?? '')).toBeLessThanOrEqual(after);
    expect(new Set(times).size).toBeGreaterThan(1);
  });
});

describe('the address in the log', () => {
  it('is shown to 2,048 characters, its secrets hidden before it is cut', () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    const url = `/x?to=smtp://a:${'secret'.repeat(1_000)}@b&q=${'a+'.repeat(100_000)}`;
    createObserver({ log: createEventLog(log), metrics: newMetrics(), keyMeter: KEY_METER })({
      ...ENDED,
      url,
    });
    const shown: string = JSON.parse(lines[0] ?? '').url;
    expect(shown).toHaveLength(2_049);
    expect(shown.startsWith('/x?to=smtp://a:[redacted]@b&q=a+a+')).toBe(true);
  });
});

describe('what observes cannot fail what it observes', () => {
  it('by figures that cannot be counted, which the log tells of', () => {
    const lines: string[] = [];
    const observe = createObserver({
      log: createEventLog(
        createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } }),
      ),
      metrics: brokenMetrics(),
      keyMeter: KEY_METER,
    });
    expect(() => observe(ENDED)).not.toThrow();
    const events = lines.map((line) => JSON.parse(line));
    expect(events).toMatchObject([
      { event: 'backgroundFault', task: 'metrics', error: { message: 'no figures today' } },
      { event: 'requestEnded', requestId: 'r1' },
    ]);
  });

  it('by a log that cannot be written, the figures being counted still', async () => {
    const metrics = newMetrics();
    const observe = createObserver({
      log: createEventLog(
        createLogger({
          level: 'info',
          destination: {
            write: () => {
              throw new Error('the disk is full');
            },
          },
        }),
      ),
      metrics,
      keyMeter: KEY_METER,
    });
    expect(() => observe(ENDED)).not.toThrow();
    expect(await metrics.registry.metrics()).toContain(
      'campus_http_request_duration_seconds_count{method="GET",route="/o/recs/:collection",status="200"} 1',
    );
  });
});

describe('an outage in the log', () => {
  const refused = (requestId: string): Observation => ({
    kind: 'requestFailed',
    requestId,
    error: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' }),
  });

  it('is one line with a stack, one for its begin and one for its end, however many requests fail', () => {
    const events: { event: string; omitted?: number }[] = [];
    const log = createEventLog(
      createLogger({ level: 'info', destination: { write: (line) => events.push(JSON.parse(line)) } }),
    );
    log(refused('r1'));
    log({ kind: 'databaseLost', reason: 'connect ECONNREFUSED 127.0.0.1:5432' });
    for (let request = 0; request < 1000; request++) log(refused(`r${request}`));
    log({ kind: 'backgroundFault', task: 'topics', error: new Error('a fault of ours') });
    log({ kind: 'databaseBack', awayMs: 4000 });
    log(refused('r2'));
    expect(events).toMatchObject([
      { event: 'requestFailed', requestId: 'r1', error: { stack: expect.any(String) } },
      { event: 'databaseLost', reason: 'connect ECONNREFUSED 127.0.0.1:5432' },
      { event: 'backgroundFault', error: { message: 'a fault of ours', stack: expect.any(String) } },
      { event: 'databaseBack', awayMs: 4000, omitted: 1000 },
      { event: 'requestFailed', requestId: 'r2' },
    ]);
  });

  it('is told once, in whatever words requests meet it', () => {
    const events: { event: string; omitted?: number }[] = [];
    const log = createEventLog(
      createLogger({ level: 'info', destination: { write: (line) => events.push(JSON.parse(line)) } }),
    );
    const failed = (error: Error): Observation => ({ kind: 'requestFailed', requestId: 'r', error });
    const words = ['no connection', 'too many wait', 'the script was not started', 'waited 5 ms'];
    log({ kind: 'databaseLost', reason: 'silent' });
    for (const word of words) log(failed(new ServiceError('UNAVAILABLE', word)));
    log({ kind: 'databaseBack', awayMs: 4000 });
    for (const waited of ['1,204 ms', '1,377.5 ms', '9 ms']) {
      log(failed(new ServiceError('UNAVAILABLE', `it waited ${waited} for others`)));
    }
    expect(events).toMatchObject([
      { event: 'databaseLost' },
      { event: 'databaseBack', omitted: 4 },
      { event: 'requestFailed', error: { message: 'it waited 1,204 ms for others' } },
    ]);
  });
});

function newMetrics(): Metrics {
  const sources = {
    database: {
      pool: { totalCount: 0, idleCount: 0, waitingCount: 0 },
      isReachable: true,
      isDiskFull: false,
      replicas: undefined,
    },
    live: { connections: 0, subscriptions: 0, eventsSent: 0 },
    droppedLogLines: () => 0,
    secretsWithoutKey: async () => 0,
    jobs: {
      counts: async () => ({ queued: 0, running: 0, failed: 0 }),
      longestWaitSeconds: async () => 0,
    },
    backups: { isScheduled: false, ageSeconds: async () => undefined },
    clock: { clockOffsetSeconds: undefined },
  };
  return new Metrics(sources, { inFlight: () => 0, waiting: () => 0 });
}

/** As it was when a member of `Object.prototype` had been changed: every count throws. */
function brokenMetrics(): Metrics {
  const metrics = newMetrics();
  metrics.requestEnded = () => {
    throw new Error('no figures today');
  };
  return metrics;
}
