/** The whole gateway as a child process: settings come from the environment; it sends `{ url }`. */
import 'reflect-metadata';
import { createApp } from '../../src/gateway/compose/app.js';
import { parseConfig } from '../../src/gateway/config/config.js';

const app = await createApp(parseConfig(process.env));
process.once('SIGTERM', () => {
  void app.close().then(() => process.exit(0));
});
process.send?.({ url: await app.listen() });
