import { describe, expect, it } from '@jest/globals';
import { ERRORS, type ErrorCode, ServiceError } from '../../../src/base/errors.js';
import { renderProblem } from '../../../src/gateway/rest/problem.js';

const request = { requestId: 'request-1', accept: undefined, hasCredential: false };

describe('problem', () => {
  it('has the members of RFC 9457, with the request id as instance', () => {
    const error = new ServiceError('INVALID_VALUE', 'amount is "a"; expected a number.', {
      errors: [{ detail: 'expected a number', pointer: '/amount', sent: 'a' }],
    });
    const { status, body } = renderProblem(error, request);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual({
      type: 'urn:campus:error:INVALID_VALUE',
      title: 'A value is not valid',
      status: 400,
      detail: 'amount is "a"; expected a number.',
      instance: 'request-1',
      errors: [{ detail: 'expected a number', pointer: '/amount', sent: 'a' }],
    });
  });

  it.each(Object.keys(ERRORS) as ErrorCode[])('renders %s with the status of the catalog', (code) => {
    expect(renderProblem(new ServiceError(code, 'why'), request).status).toBe(ERRORS[code].status);
  });

  it('never shows a cause', () => {
    const error = new ServiceError('INTERNAL', 'A fault of ours.', { cause: new Error('relation "x"') });
    expect(renderProblem(error, request).body).not.toContain('relation');
  });

  it('challenges a caller without a credential, and tells one with a wrong one so', () => {
    const error = new ServiceError('UNAUTHENTICATED', 'why');
    expect(renderProblem(error, request).headers).toMatchObject({
      'www-authenticate': 'Bearer realm="campus"',
    });
    expect(renderProblem(error, { ...request, hasCredential: true }).headers).toMatchObject({
      'www-authenticate': 'Bearer realm="campus", error="invalid_token"',
    });
  });

  it('says when to try again in whole seconds, at least one', () => {
    const error = (retryAfterSeconds: number) =>
      new ServiceError('UNAVAILABLE', 'why', { retryAfterSeconds });
    expect(renderProblem(error(0.2), request).headers).toMatchObject({ 'retry-after': '1' });
    expect(renderProblem(error(59.1), request).headers).toMatchObject({ 'retry-after': '60' });
  });

  it('lists the methods that are right', () => {
    const error = new ServiceError('METHOD_NOT_ALLOWED', 'why', { allow: ['GET', 'HEAD'] });
    expect(renderProblem(error, request).headers).toMatchObject({ allow: 'GET, HEAD' });
  });
});
