import { describe, expect, it } from '@jest/globals';
import { memoryLimitBytes } from '../../../../src/base/process/memory-limit.js';
import { embeddedSettings } from '../../../../src/store/database/embedded/embedded-settings.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

describe('the embedded PostgreSQL is sized', () => {
  it.each([
    [256 * MIB, { shared_buffers: '32MB', work_mem: '4MB', maintenance_work_mem: '16MB' }],
    [512 * MIB, { shared_buffers: '64MB', work_mem: '4MB', maintenance_work_mem: '32MB' }],
    [2 * GIB, { shared_buffers: '256MB', work_mem: '16MB', maintenance_work_mem: '128MB' }],
    [64 * GIB, { shared_buffers: '512MB', work_mem: '16MB', effective_cache_size: '32768MB' }],
  ])('for %d bytes of memory', (memoryBytes, settings) => {
    expect(embeddedSettings({ memoryBytes, diskBytes: 100 * GIB })).toMatchObject(settings);
  });

  it.each([
    [400 * MIB, { max_wal_size: '64MB', min_wal_size: '64MB' }],
    [16 * GIB, { max_wal_size: '1024MB', min_wal_size: '80MB' }],
    [500 * GIB, { max_wal_size: '2048MB', min_wal_size: '80MB' }],
  ])('for %d bytes of disk', (diskBytes, settings) => {
    expect(embeddedSettings({ memoryBytes: GIB, diskBytes })).toMatchObject(settings);
  });

  it('within the memory of this machine or container', () => {
    expect(memoryLimitBytes()).toBeGreaterThan(0);
    expect(memoryLimitBytes()).toBeLessThanOrEqual(process.constrainedMemory() || Number.POSITIVE_INFINITY);
  });
});
