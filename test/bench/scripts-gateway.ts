/**
 * The gateway of `npm run bench -- scripts`: runs the scripts its parent sends, as an admin of the school.
 */
import 'reflect-metadata';
import { type Domain, systemPrincipal } from '../../src/base/model/scope.js';
import { createApp } from '../../src/gateway/compose/app.js';
import { parseConfig } from '../../src/gateway/config/config.js';
import { answerUsage } from './usage.js';

/** Runs a script `times`, as many at once as the settings allow. */
export interface RunOrder {
  readonly order: number;
  readonly code: string;
  readonly times: number;
}

export interface RunReport {
  readonly order: number;
  readonly milliseconds: readonly number[];
  readonly errors: readonly string[];
  readonly value: unknown;
}

const app = await createApp(parseConfig(process.env));
const { domains, scriptRunner } = app.services;

process.on('message', async (message) => {
  if (!isOrder(message)) return;
  const { order, code, times } = message;
  const runs = await Promise.all(Array.from({ length: times }, () => run(code)));
  const report: RunReport = {
    order,
    milliseconds: runs.map((one) => one.durationMs),
    errors: runs.flatMap(({ error }) => (error === undefined ? [] : [error.message])),
    value: runs[0]?.value,
  };
  process.send?.({ report });
});
answerUsage();
process.send?.({ url: await app.listen() });
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));

async function run(code: string) {
  const domain = domains.top() as Domain;
  const principal = systemPrincipal('bench', ['admin'], domain.id);
  const scope = { domain, principal, call: { requestId: 'bench' } };
  const startedAt = performance.now();
  const result = await scriptRunner.run({ source: { name: 'bench.js', code }, scope, arguments: null });
  return { ...result, durationMs: performance.now() - startedAt };
}

function isOrder(message: unknown): message is RunOrder {
  return typeof message === 'object' && message !== null && 'order' in message;
}
