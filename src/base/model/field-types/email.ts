import type { ScalarType } from './scalar-type.js';
import { TEXT } from './text.js';

/** The longest address that a mail server accepts (RFC 5321). */
const MAX_LENGTH = 254;

/** An e-mail address. */
export const EMAIL = {
  ...TEXT,
  declared: { type: 'text', format: 'email' },
  jsonSchema: { type: 'string', format: 'email' },
  toStored: (sent) => (typeof sent === 'string' && isEmailAddress(sent) ? sent : undefined),
  expectation: 'an e-mail address such as name@school.example',
} as const satisfies ScalarType;

function isEmailAddress(text: string): boolean {
  return text.length <= MAX_LENGTH && /^[^\s@"(),:;<>[\]\\]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text);
}
