import { describe, expect, it } from '@jest/globals';
import { listHostUrls, serverNameOf } from '../../../src/store/database/list-host-urls.js';

describe('the address of a database', () => {
  it.each([
    ['postgresql://u:p@one:5432/campus', ['postgresql://u:p@one:5432/campus']],
    ['postgres://one', ['postgres://one']],
    [
      'postgresql://u:p@one:5432,two:5433/campus',
      ['postgresql://u:p@one:5432/campus', 'postgresql://u:p@two:5433/campus'],
    ],
    [
      'postgresql://u@one,two/campus?target_session_attrs=read-write&sslmode=require',
      ['postgresql://u@one/campus?sslmode=require', 'postgresql://u@two/campus?sslmode=require'],
    ],
    [
      'postgresql://u@[::1]:5432,[::2]:5432/campus?sslmode=require&target_session_attrs=primary',
      [
        'postgresql://u@[::1]:5432/campus?sslmode=require',
        'postgresql://u@[::2]:5432/campus?sslmode=require',
      ],
    ],
    ['postgresql://u@one/campus?target_session_attrs=any', ['postgresql://u@one/campus']],
    ['postgresql:///campus?host=/run/postgresql', ['postgresql:///campus?host=/run/postgresql']],
  ])('%s', (url, urls) => {
    expect(listHostUrls(url)).toEqual(urls);
  });

  it('is shown without its user and password', () => {
    expect(serverNameOf('postgresql://u:p%40@one:5432/campus')).toBe('one:5432');
  });
});
