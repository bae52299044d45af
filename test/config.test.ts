import { describe, expect, it } from '@jest/globals';
import { ConfigError, parseConfig } from '../src/config.js';

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

  it('reads lists and flags', () => {
    const config = parseConfig({ CORS_ORIGINS: 'https://a.example, https://b.example', MAINTENANCE: 'true' });
    expect(config.corsOrigins).toEqual(['https://a.example', 'https://b.example']);
    expect(config.maintenance).toBe(true);
  });

  it.each([
    ['PORT', '70000'],
    ['PORT', 'http'],
    ['POOL_SIZE', '0'],
    ['DATABASE_URL', 'mysql://localhost/campus'],
    ['TOKEN_SECRET', 'short'],
    ['LOG_LEVEL', 'loud'],
    ['MAINTENANCE', 'yes'],
  ])('refuses %s=%s and names it', (variable, value) => {
    expect(faultsOf({ [variable]: value })).toMatch(new RegExp(`^${variable}: `));
  });

  it('names every variable at fault, not the first only', () => {
    expect(faultsOf({ PORT: 'x', LOG_LEVEL: 'y' }).split('\n')).toHaveLength(2);
  });

  it('never repeats what a secret held', () => {
    expect(faultsOf({ TOKEN_SECRET: 'hunter2' })).not.toContain('hunter2');
  });
});
