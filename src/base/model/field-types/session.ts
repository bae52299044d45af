import type { ScalarType } from './scalar-type.js';
import { TEXT } from './text.js';

/** A school year by its two calendar years, stored `YYYY-YY`. @see decisions 11 */
export const SESSION = {
  ...TEXT,
  declared: { type: 'text', format: 'session' },
  jsonSchema: { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
  toStored: (sent) => (typeof sent === 'string' && isSession(sent) ? sent : undefined),
  expectation: 'a session YYYY-YY, e.g. 2026-27',
  isOfFormat: isSession,
} as const satisfies ScalarType;

function isSession(text: string): boolean {
  const match = /^(\d{4})-(\d{2})$/.exec(text);
  return match !== null && (Number(match[1]) + 1) % 100 === Number(match[2]);
}
