import { describe, expect, it } from '@jest/globals';
import {
  endpointArguments,
  toEndpointAnswer,
} from '../../../../src/services/scripting/library/endpoint-request.js';

describe('the answer of a script', () => {
  it('is JSON where it says nothing else, and nothing where it gives nothing', () => {
    expect(toEndpointAnswer('a', { total: 3 })).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"total":3}',
    });
    expect(toEndpointAnswer('a', undefined)).toEqual({ status: 204, headers: {}, body: '' });
    expect(toEndpointAnswer('a', null).body).toBe('null');
  });

  it('is an answer where it has status, headers and body alone', () => {
    const given = { status: 201, headers: { Location: '/x/a', 'Content-Type': 'text/csv' }, body: 'a,b' };
    expect(toEndpointAnswer('a', given)).toEqual({
      status: 201,
      headers: { location: '/x/a', 'content-type': 'text/csv' },
      body: 'a,b',
    });
    expect(toEndpointAnswer('a', { status: 202, body: [1] }).body).toBe('[1]');
    expect(toEndpointAnswer('a', { status: 'open', order: 1 }).body).toBe('{"status":"open","order":1}');
  });

  it.each([
    ['a status that is none', { status: 99 }],
    ['a status in words', { status: 'ok', body: '' }],
    ['a cookie', { body: '', headers: { 'Set-Cookie': 'a=b' } }],
    ['a header of security', { body: '', headers: { 'Content-Security-Policy': '' } }],
    ['a second line in a header', { body: '', headers: { 'X-A': 'b\r\nSet-Cookie: a=b' } }],
    ['headers in a list', { body: '', headers: ['X-A'] }],
  ])('is refused with %s', (_, value) => {
    expect(() => toEndpointAnswer('a', value)).toThrow(expect.objectContaining({ code: 'SCRIPT_FAILED' }));
  });
});

it('a script is told of a request without the credentials in it', () => {
  const request = {
    method: 'POST',
    path: 'sub/1',
    query: { a: '1' },
    headers: {
      authorization: 'Bearer secret',
      cookie: 'c',
      'content-type': 'text/plain',
      accept: ['a', 'b'],
    },
    body: { raw: Buffer.from('text'), parsed: undefined },
    address: '127.0.0.1',
  };
  expect(endpointArguments(request, undefined)).toEqual({
    method: 'POST',
    path: 'sub/1',
    query: { a: '1' },
    headers: { 'content-type': 'text/plain', accept: 'a, b' },
    body: 'text',
    rawBody: 'text',
    address: '127.0.0.1',
    caller: null,
  });
});
