/**
 * The rules that the description of REST does not keep, each with the reason. A rule without places does not
 * fit at all and is not asked; of the others, the places are all there are: a new one is told of, and so is
 * one that is no more.
 */
export const ACCEPTED = [
  {
    rules: [
      'owasp:api4:2023-array-limit',
      'owasp:api4:2023-integer-format',
      'owasp:api4:2023-integer-limit',
      'owasp:api4:2023-string-limit',
      'owasp:api4:2023-string-restricted',
    ],
    reason:
      'What a school stores has the type that its declaration says, and no other bound; how much a request ' +
      'may send or ask for is bounded as a whole (BODY_LIMIT_BYTES, MAX_RECORDS_PER_WRITE).',
  },
  {
    rules: ['owasp:api8:2023-define-cors-origin'],
    reason: 'The header is in the answers of gateways whose CORS_ORIGINS names an origin, and in no others.',
  },
  {
    rules: ['info-contact', 'owasp:api9:2023-inventory-access', 'owasp:api9:2023-inventory-environment'],
    reason:
      'Each gateway has somebody else who runs it and knows who reaches it; its description names the ' +
      'address that it is asked at.',
  },
  {
    rules: ['owasp:api2:2023-write-restricted'],
    reason: 'A login has no credential yet, and a page of this host has its cookie.',
    places: [
      '/auth post',
      '/auth/browser/login post',
      '/auth/browser/refresh post',
      '/auth/browser/logout post',
    ],
  },
  {
    rules: ['owasp:api2:2023-no-credentials-in-url'],
    reason: 'The interface document sends a login in the query; the body is recommended in its description.',
    places: ['/auth post'],
  },
  {
    rules: ['owasp:api8:2023-define-error-validation'],
    reason: 'These take nothing that could be wrong, or refuse it by another status.',
    places: [
      ...['/auth/logout post', '/auth/browser/refresh post', '/auth/browser/logout post', '/teapot get'],
      ...['/files/{id} get', '/files/{id} delete', '/healthz get', '/readyz get', '/metrics get'],
      ...['/openapi.json get', '/.graphqlrc get', '/docs get', '/explore get'],
      '/manual get',
    ],
  },
  {
    rules: ['owasp:api2:2023-read-restricted'],
    reason: 'What the service is and how it is may be asked without a credential; it tells of no record.',
    places: [
      ...['/teapot get', '/healthz get', '/readyz get', '/metrics get', '/.graphqlrc get', '/docs get'],
      ...['/explore get', '/manual get'],
    ],
  },
  {
    rules: [
      'owasp:api4:2023-rate-limit',
      'owasp:api4:2023-rate-limit-responses-429',
      'owasp:api8:2023-define-error-responses-401',
      'operation-4xx-response',
    ],
    reason: 'Who watches the gateway is neither counted nor asked for a credential there.',
    places: ['/healthz get', '/readyz get', '/metrics get'],
  },
  {
    rules: ['path-keys-no-trailing-slash', 'no-path-trailing-slash'],
    reason: 'The interface document has this path.',
    places: ['/o/'],
  },
  {
    rules: ['operation-success-response', 'operation-2xx-response'],
    reason: 'Its one answer is 418.',
    places: ['/teapot get'],
  },
];
