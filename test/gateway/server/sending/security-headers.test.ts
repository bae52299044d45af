import { describe, expect, it } from '@jest/globals';
import {
  API_HEADERS,
  DOCUMENTATION_HEADERS,
  EXPLORER_HEADERS,
  LANDING_HEADERS,
} from '../../../../src/gateway/server/sending/security-headers.js';

describe('security headers', () => {
  it('of an API answer let nothing in it run or be framed', () => {
    expect(API_HEADERS).toEqual({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  it('let no other origin in on any page', () => {
    for (const headers of [DOCUMENTATION_HEADERS, EXPLORER_HEADERS, LANDING_HEADERS])
      expect(headers['content-security-policy']).not.toContain('http');
    expect(LANDING_HEADERS['content-security-policy']).not.toContain('script');
  });
});
