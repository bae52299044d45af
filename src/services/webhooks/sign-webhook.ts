/**
 * Signs deliveries, so that a receiver can check who sent them and that they are not replays of old ones.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** Makes a secret of 32 random bytes, in the form that libraries of Standard Webhooks expect. */
export function createWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/**
 * The headers of a delivery: its id, the time in seconds of Unix time, and the HMAC-SHA-256 of
 * `<id>.<time>.<body>` by the secret, in base64.
 */
export function signWebhook(
  secret: string,
  { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
