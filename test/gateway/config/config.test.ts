import { availableParallelism } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../src/base/errors.js';
import { findMisspelt, parseConfig } from '../../../src/gateway/config/config.js';

function faultsOf(environment: Record<string, string>): string {
  try {
    parseConfig(environment);
  } catch (fault) {
    if (fault instanceof ConfigError) return fault.message;
    throw fault;
  }
  return '';
}

describe('parseConfig', () => {
  it('has a default for everything that can have one', () => {
    expect(parseConfig({})).toMatchObject({
      port: 4000,
      databaseUrl: undefined,
      dataDirectory: '.data',
      rateLimitPerMinute: 600,
      introspectionRoles: ['*'],
      corsOrigins: [],
      maintenance: false,
    });
  });

  it('takes an empty variable as not set', () => {
    expect(parseConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 4000, databaseUrl: undefined });
  });

  it('takes as many workers as are said, or as there are cores', () => {
    expect(parseConfig({}).workers).toBe(1);
    expect(parseConfig({ WORKERS: '3' }).workers).toBe(3);
    expect(parseConfig({ WORKERS: 'auto' }).workers).toBe(availableParallelism());
  });

  it('reads lists and flags', () => {
    const config = parseConfig({ CORS_ORIGINS: 'https://a.example, https://b.example', MAINTENANCE: 'true' });
    expect(config.corsOrigins).toEqual(['https://a.example', 'https://b.example']);
    expect(config.maintenance).toBe(true);
  });

  it.each([
    ['PORT', '70000'],
    ['PORT', 'http'],
    ['POOL_SIZE', '0'],
    ['WORKERS', '0'],
    ['WORKERS', 'all'],
    ['WORKERS', '65'],
    ['DATABASE_URL', 'mysql://localhost/campus'],
    ['DATABASE_URL', 'postgresql://user:password@localhost:99999/campus'],
    ['DATABASE_URL', 'postgresql://user:pass#word@localhost:5432/campus'],
    ['DATABASE_URL', 'postgresql://user:password@one:5432,two:port/campus'],
    ['DATABASE_URL', 'postgresql://user:password@one:5432/na%3Fme'],
    ['TOKEN_SECRET', 'short'],
    ['LOG_LEVEL', 'loud'],
    ['MAINTENANCE', 'yes'],
    ['TRUST_PROXY', 'yes'],
    ['TRUST_PROXY', '11'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '1,10.0.0.1'],
  ])('refuses %s=%s and names it', (variable, value) => {
    expect(faultsOf({ [variable]: value })).toMatch(new RegExp(`^${variable}: `));
  });

  it('names the database as its address says', () => {
    const url = (name: string) =>
      `postgresql://us%2Fer:pa%40ss@one,two/${name}?sslmode=disable&options=a%2Fb`;
    expect(parseConfig({ DATABASE_URL: url('odd%20db%2Fn%26a%25me') }).databaseUrl).toBe(
      url('odd%20db/n&a%25me'),
    );
  });

  it.each([
    'postgresql://localhost',
    'postgresql:///campus?host=/var/run/postgresql',
    'postgresql://user:pass%23word@one:5432,two:5433/campus?target_session_attrs=read-write',
    'postgres://user:password@[::1]:5432/campus',
  ])('takes the address %s', (url) => {
    expect(parseConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  it.each([
    ['false', false],
    ['0', false],
    ['true', 1],
    ['2', 2],
    ['10.0.0.0/8, 192.168.1.5', ['10.0.0.0/8', '192.168.1.5']],
    ['::1', ['::1']],
    ['loopback', ['loopback']],
  ])('reads TRUST_PROXY=%s', (text, trusted) => {
    expect(parseConfig({ TRUST_PROXY: text }).trustProxy).toEqual(trusted);
  });

  it.each([
    ['localhost:3000', 'http://localhost:3000 would be'],
    ['portal.example', 'https://portal.example would be'],
    ['https://portal.example/', 'https://portal.example would be'],
    ['https://portal.example/a?b', 'https://portal.example would be'],
    ['HTTPS://Portal.Example', 'https://portal.example would be'],
    ['https://*.example', 'expected e.g. https://portal.example'],
  ])('refuses CORS_ORIGINS=%s with what would be right', (text, hint) => {
    expect(faultsOf({ CORS_ORIGINS: `https://a.example,${text}` })).toContain(
      `"${text}" is not an origin; ${hint}`,
    );
  });

  it('takes every origin for a star', () => {
    expect(parseConfig({ CORS_ORIGINS: '*' }).corsOrigins).toEqual(['*']);
  });

  it.each([
    ['PORT', '0x10', 'a whole number from 0 to 65535'],
    ['POOL_SIZE', '1e3', 'a whole number from 1 to 1000'],
    ['POOL_SIZE', '1.5', 'a whole number from 1 to 1000'],
    // A blank is no zero, which would mean no limit.
    ['STATEMENT_TIMEOUT_MS', ' ', 'a whole number from 0 to 2147483647'],
    // A timer of so many milliseconds would end at once.
    ['STREAM_STALL_MS', '3000000000', 'a whole number from 1 to 2147483647'],
    ['KEEP_REMOVED_DAYS', '99999999', 'a whole number from 1 to 36500'],
    ['IMPORT_MAX_BYTES', '3000000000', 'a whole number from 1 to 2147483648'],
    ['WORKERS', 'all', 'auto, or a whole number from 1 to 64'],
    ['MAINTENANCE', 'yes', 'true or false'],
    ['LOG_LEVEL', 'loud', 'silent, fatal, error, warn, info, debug or trace'],
    ['PUBLIC_URL', 'school.example', 'an address like https://school.example'],
    ['TOKEN_SECRET', 'short', 'at least 32 characters'],
  ])('refuses %s=%s with what would be right', (variable, value, right) => {
    expect(faultsOf({ [variable]: value })).toContain(`${variable}: expected ${right} (`);
  });

  it('takes a number with blanks around it, and bytes beyond 2 GiB', () => {
    expect(parseConfig({ POOL_SIZE: ' 5 ', FILES_QUOTA_BYTES: '99999999999' })).toMatchObject({
      poolSize: 5,
      filesQuotaBytes: 99_999_999_999,
    });
  });

  it('takes the address of the gateway with a slash at its end, too', () => {
    expect(parseConfig({ PUBLIC_URL: 'https://school.example/' }).publicUrl).toBe('https://school.example');
  });

  it.each([
    [{ PORT: '4000', METRICS_PORT: '4000' }, 'METRICS_PORT: is PORT, too'],
    [{ BACKUP_SCHEDULE: '30 20 * * *' }, 'BACKUP_SCHEDULE: needs a place for the backups'],
    [{ OIDC_ISSUER: 'https://accounts.example' }, 'OIDC_ISSUER: needs OIDC_CLIENT_ID and PUBLIC_URL'],
  ])('refuses settings that do not go together: %j', (environment, fault) => {
    expect(faultsOf(environment)).toMatch(new RegExp(`^${fault}`));
  });

  it('names every variable at fault, not the first only', () => {
    expect(faultsOf({ PORT: 'x', LOG_LEVEL: 'y' }).split('\n')).toHaveLength(2);
  });

  it('never repeats what a secret held', () => {
    expect(faultsOf({ TOKEN_SECRET: 'hunter2' })).not.toContain('hunter2');
  });
});

describe('findMisspelt', () => {
  it.each([
    ['RATE_LIMIT_PER_MINUT', 'RATE_LIMIT_PER_MINUTE'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['POOLSIZE', 'POOL_SIZE'],
    ['Trust_Proxy', 'TRUST_PROXY'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['LOGLEVEL', 'LOG_LEVEL'],
  ])('names %s', (name, meant) => {
    expect(findMisspelt({ [name]: '1' })).toEqual([`Unknown setting ${name}. Did you mean ${meant}?`]);
  });

  it.each([
    'PATH',
    'HOME',
    'HOSTNAME',
    'PGPORT',
    'PGHOST',
    'USER',
    'NODE_ENV',
    'npm_config_port',
    'SMTP_HOST',
    'WEB_CONCURRENCY',
  ])('leaves %s alone', (name) => {
    expect(findMisspelt({ [name]: '1' })).toEqual([]);
  });

  it('leaves a name alone whose nearest setting is set', () => {
    expect(findMisspelt({ DATABASE_URI: 'a', DATABASE_URL: 'b' })).toEqual([]);
  });
});
