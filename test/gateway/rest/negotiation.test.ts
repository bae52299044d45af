import { describe, expect, it } from '@jest/globals';
import { createNegotiation, problemTypeFor } from '../../../src/gateway/rest/negotiation.js';

const negotiate = createNegotiation(['json', 'ndjson']);

describe('negotiation', () => {
  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/*', 'json'],
    ['application/json, text/plain, */*', 'json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['application/problem+json', 'json'],
    ['application/x-ndjson', 'ndjson'],
    ['application/ndjson', 'ndjson'],
    ['application/json;q=0.5, application/x-ndjson', 'ndjson'],
    ['application/x-ndjson;q=0, */*', 'json'],
    ['application/json; charset=utf-8', 'json'],
  ])('answers Accept: %s as %s', (accept, format) => {
    expect(negotiate(accept)).toBe(format);
    expect(negotiate(accept)).toBe(format);
  });

  it.each(['text/html', 'application/xml', 'application/json;q=0', 'nonsense', ''])(
    'refuses Accept: %s with 406 that lists what there is',
    (accept) => {
      expect(() => negotiate(accept)).toThrow(
        expect.objectContaining({
          code: 'NOT_ACCEPTABLE',
          message:
            'This answer can be had as application/json, application/x-ndjson; Accept admits none of them.',
        }),
      );
    },
  );

  it('goes on choosing when more headers were seen than it remembers', () => {
    for (let index = 0; index < 1000; index++)
      expect(negotiate(`application/json, text/x-${index}`)).toBe('json');
    expect(() => negotiate('text/x-999')).toThrow('Accept admits none');
  });
});

describe('the media type of an error', () => {
  it.each([
    [undefined, 'application/problem+json'],
    ['*/*', 'application/problem+json'],
    ['application/problem+json', 'application/problem+json'],
    ['application/json', 'application/json'],
    ['text/html', 'application/json'],
  ])('for Accept: %s is %s', (accept, type) => {
    expect(problemTypeFor(accept)).toBe(type);
  });
});
