import { expect, it } from '@jest/globals';
import { faultIn } from '../../../../src/store/database/embedded/embedded-server.js';

it.each([
  [
    'running bootstrap script ... 2026-11-23 09:00:16 UTC [30312] FATAL:  could not create semaphores\n' +
      'child process exited with exit code 1\ninitdb: removing contents of data directory "/x"\n',
    'running bootstrap script ... FATAL:  could not create semaphores',
  ],
  [
    '2026-11-24 02:05:44.443 UTC [27061]  FATAL:  could not write to file "x": No space left on device\n',
    'FATAL:  could not write to file "x": No space left on device',
  ],
  ['initdb: error: directory "/x" exists\n', 'initdb: error: directory "/x" exists'],
  ['waiting\nstopped waiting\n', 'stopped waiting'],
  ['', ''],
])('of %j tells %j', (output, told) => {
  expect(faultIn(output)).toBe(told);
});
