/** The gateway under measure, whole, as a child process: settings from the environment; sends `{ url }`, answers `memory` with `{ rssBytes }`. */
import 'reflect-metadata';
import { createApp } from '../../src/app.js';
import { parseConfig } from '../../src/config.js';

const app = await createApp(parseConfig(process.env));
process.on('message', (message) => {
  if (message === 'memory') process.send?.({ rssBytes: process.memoryUsage.rss() });
});
process.once('SIGTERM', () => {
  void app.close().then(() => process.exit(0));
});
process.send?.({ url: await app.listen() });
