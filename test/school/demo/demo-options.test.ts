import { expect, it } from '@jest/globals';
import { isDemoWanted } from '../../../src/school/demo/demo-options.js';

it.each([
  [{ host: '127.0.0.1' }, true],
  [{ host: '127.1.2.3' }, true],
  [{ host: 'localhost' }, true],
  [{ host: '::1' }, true],
  [{ host: '0.0.0.0' }, false],
  [{ host: '::' }, false],
  [{ host: '127.0.0.1.example' }, false],
  [{ host: '127.0.0.1', publicUrl: 'https://school.example' }, false],
  [{ host: '0.0.0.0', demo: true }, true],
  [{ host: '127.0.0.1', demo: false }, false],
])('the demo school with %j is wanted: %s', (settings, isWanted) => {
  expect(isDemoWanted(settings)).toBe(isWanted);
});
