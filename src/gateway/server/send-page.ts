/** Pages that a browser is sent in place of JSON. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import type { SecurityHeaders } from './security-headers.js';

const JSON_TYPES = ['application/json', 'application/problem+json'];

/** Whether the caller prefers a page to JSON, as a browser does that was given an address. */
export function prefersPage({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  if (!headers.accept?.includes('text/html')) return false;
  return new Negotiator({ headers }).mediaType([...JSON_TYPES, 'text/html']) === 'text/html';
}

export function newNonce(): string {
  return randomBytes(16).toString('base64url');
}

/** Never cached: its nonce matches the headers of this answer only. */
export function sendPage(reply: FastifyReply, headers: SecurityHeaders, page: string): FastifyReply {
  return reply
    .headers(headers)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page);
}
