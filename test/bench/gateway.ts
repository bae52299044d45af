/**
 * The gateway under measure, whole, as a child process: settings from the environment; sends `{ url }`,
 * answers as `usage.ts` says.
 */
import 'reflect-metadata';
import { createApp } from '../../src/compose/app.js';
import { parseConfig } from '../../src/config.js';
import { answerUsage } from './usage.js';

const app = await createApp(parseConfig(process.env));
answerUsage();
process.once('SIGTERM', () => {
  void app.close().then(() => process.exit(0));
});
process.send?.({ url: await app.listen() });
