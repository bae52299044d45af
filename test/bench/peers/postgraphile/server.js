/**
 * PostGraphile as its documentation sets it up, in production, on the plain tables; the filter plugin is the one
 * it recommends. Started as a child process with DATABASE_URL and POOL_SIZE; sends `{ url }` once it listens.
 */
import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter';

const { DATABASE_URL, POOL_SIZE } = process.env;

// PostGraphile asks for Node.js 22; this is what it misses in 20.
Promise.withResolvers ??= function withResolvers() {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};

const instance = postgraphile({
  extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
  pgServices: [
    makePgService({
      connectionString: DATABASE_URL,
      schemas: ['plain'],
      poolConfig: { max: Number(POOL_SIZE) },
    }),
  ],
  grafserv: { watch: false, maxRequestLength: 16 * 2 ** 20 },
});
const server = createServer();
await instance.createServ(grafserv).addTo(server);
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${server.address().port}` });
});
process.once('SIGTERM', () => process.exit(0));
