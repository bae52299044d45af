import { describe, expect, it } from '@jest/globals';
import { nameProgram } from '../../src/portal/browser/account/name-program.js';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('the program of a session', () => {
  it.each([
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0`,
      { program: 'Edge 143', system: 'Windows' },
    ],
    [
      `Mozilla/5.0 (Linux; Android 14; SM-S911B) ${WEBKIT} Chrome/143.0.0.0 Mobile Safari/537.36`,
      { program: 'Chrome 143', system: 'Android' },
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18 like Mac OS X) ${WEBKIT} Version/18.1 Mobile/15E1 Safari/604.1`,
      { program: 'Safari 18', system: 'iPhone' },
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:132.0) Gecko/20100101 Firefox/132.0',
      { program: 'Firefox 132', system: 'macOS' },
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/143.0.7499.0 Safari/537.36`,
      { program: 'Chrome 143', system: 'Linux' },
    ],
    ['curl/8.5.0 (x86_64-pc-linux-gnu)', { program: 'curl/8.5.0' }],
    ['node', { program: 'node' }],
    ['', { program: '' }],
  ])('is named by %s', (userAgent, named) => {
    expect(nameProgram(userAgent)).toEqual(named);
  });
});
