/**
 * Databases of tests where the server that `TEST_DATABASE_URL` names is the coordinator of Citus: one of each
 * name on every server, copied as one. Where it is a single server, that is the only one.
 */
import pg from 'pg';

/** Where the workers of Jest find the addresses of all servers, the coordinator first. */
const SERVERS_VARIABLE = 'CAMPUS_TEST_SERVERS';

/** Whether the tests run on Citus. */
export function isTestedOnCitus(): boolean {
  return (process.env[SERVERS_VARIABLE] ?? '').includes(' ');
}

/** The view of what connections do; on Citus, of those to all servers. */
export function activityView(): string {
  return isTestedOnCitus() ? 'citus_stat_activity' : 'pg_stat_activity';
}

/** Looks which servers the one at `url` spreads its database over, for all that follows. */
export async function findServers(url: string): Promise<void> {
  const servers = await withClient(url, async (client) => {
    const { rows: extensions } = await client.query(`select 1 from pg_extension where extname = 'citus'`);
    if (extensions.length === 0) return [url];
    const { rows } = await client.query<{ host: string; port: number }>(
      `select nodename as host, nodeport as port
         from pg_dist_node
        where isactive
        order by groupid`,
    );
    return rows.map(({ host, port }) => Object.assign(new URL(url), { hostname: host, port }).href);
  });
  process.env[SERVERS_VARIABLE] = servers.map((server) => atDatabase(server, 'postgres')).join(' ');
}

/** Makes an empty database for migrations, on Citus with the extension and the other servers. */
export async function createShardedDatabase(name: string): Promise<void> {
  const servers = listServers();
  for (const server of servers) {
    await withClient(server, (client) => client.query(`create database ${name}`));
    if (servers.length === 1) return;
    await withClient(atDatabase(server, name), (client) => client.query('create extension citus'));
  }
  const [coordinator = '', ...workers] = servers.map((server) => new URL(server));
  await withClient(atDatabase(String(coordinator), name), async (client) => {
    await client.query('select citus_set_coordinator_host($1, $2)', nodeOf(new URL(coordinator)));
    for (const worker of workers) await client.query('select citus_add_node($1, $2)', nodeOf(worker));
  });
}

/** A template must be without connections: those of what Citus, or a vacuum, looks after it with. */
export async function sealTemplate(name: string): Promise<void> {
  await onEveryServer(async (client) => {
    await client.query(`alter database ${name} with allow_connections false`);
    await client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
      name,
    ]);
  });
}

/**
 * Copies a database. By file copy: the default writes every page to the log first, and is three times as slow
 * here.
 */
export async function copyDatabase(template: string, name: string): Promise<void> {
  await onEveryServer((client) =>
    client.query(`create database ${name} template ${pg.escapeIdentifier(template)} strategy file_copy`),
  );
}

/** The names of the databases that begin so. */
export async function listDatabases(start: string): Promise<string[]> {
  return await onCoordinator(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1) order by 1',
      [start],
    );
    return rows.map(({ name }) => name);
  });
}

export async function renameDatabase(name: string, next: string): Promise<void> {
  await onEveryServer((client) => client.query(`alter database ${name} rename to ${next}`));
}

/** Takes a database away, whoever is connected; on the coordinator first, whose connections end others. */
export async function dropDatabase(name: string): Promise<void> {
  for (const server of listServers()) {
    await withClient(server, (client) => dropOn(client, name));
  }
}

/** What Citus looks after a database with connects anew as soon as it was ended. */
async function dropOn(client: pg.Client, name: string): Promise<void> {
  const drop = () => client.query(`drop database if exists ${name} with (force)`);
  for (let attempt = 1; attempt < 5; attempt++) {
    const isDropped = await drop().then(
      () => true,
      () => false,
    );
    if (isDropped) return;
  }
  await drop();
}

/** Does the work on the server that is asked by gateways. */
export async function onCoordinator<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  return await withClient(listServers()[0] ?? '', work);
}

/** Does the work on the server that is asked by gateways and, on Citus, on all others. */
export async function onEveryServer(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  await Promise.all(listServers().map((server) => withClient(server, work)));
}

/** The address over TCP of a database whose server tests reach by a socket of Unix. */
export function overTcp(databaseUrl: string): URL {
  const url = new URL(databaseUrl);
  if (url.hostname.startsWith('%2F')) url.hostname = '127.0.0.1';
  return url;
}

function listServers(): readonly string[] {
  const servers = process.env[SERVERS_VARIABLE];
  if (servers) return servers.split(' ');
  throw new Error('There is no test server: run the tests by npm test, whose global setup starts it');
}

function nodeOf({ hostname, port }: URL): [string, number] {
  return [hostname, Number(port)];
}

function atDatabase(server: string, name: string): string {
  return Object.assign(new URL(server), { pathname: name }).href;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'campus tests' });
  // A server that ends the connection shows in the next query.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
