import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../../src/server/logger.js';
import { redactSecrets } from '../../src/server/redaction.js';

describe('redaction', () => {
  it.each([
    ['/auth?user_name=a&password=b%20c', '/auth?user_name=a&password=[redacted]'],
    ['/auth?password=b&user_name=a', '/auth?password=[redacted]&user_name=a'],
    ['/auth?api_key=cg_1', '/auth?api_key=[redacted]'],
    ['/auth?refresh_token=r', '/auth?refresh_token=[redacted]'],
    ['/x?access_token=t&PASSWORD=p', '/x?access_token=[redacted]&PASSWORD=[redacted]'],
    [`/auth?password=it's"#b&user_name=a`, '/auth?password=[redacted]&user_name=a'],
    ['/auth?pass%77ord=b&user_name=a', '/auth?pass%77ord=[redacted]&user_name=a'],
    ['/graphql?query={login(userName:"a",password:"b"){accessToken}}', '/graphql?query=[redacted]'],
    ['/graphql?variables={"password":"b"}&operationName=A', '/graphql?variables=[redacted]&operationName=A'],
    ['/o/recs/task?oquery=name=a', '/o/recs/task?oquery=name=a'],
    ['/o/recs/task?oquery=a%2Cb=c', '/o/recs/task?oquery=a%2Cb=c'],
    [
      'cannot reach smtp://office:b@c@mail.example:587/x',
      'cannot reach smtp://office:[redacted]@mail.example:587/x',
    ],
    ['smpps://school:b@host', 'smpps://school:[redacted]@host'],
    ['https://host:8080/a@b', 'https://host:8080/a@b'],
    ['asha@example.org: no such user', 'asha@example.org: no such user'],
    ['/healthz', '/healthz'],
  ])('of %s is %s', (text, redacted) => {
    expect(redactSecrets(text)).toBe(redacted);
  });

  it('hides secret members of a log line, wherever they are', () => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    createLogger({ level: 'info', destination }).info({
      password: 'secret-1',
      headers: { authorization: 'Bearer secret-2' },
      a: { b: { refreshToken: 'secret-3' } },
      user: 'visible',
    });
    expect(lines.join('')).not.toContain('secret');
    expect(lines.join('')).toContain('visible');
  });
});
