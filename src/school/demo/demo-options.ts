import { invalidAt, type ServiceError } from '../../base/errors.js';
import { isDay } from '../../base/model/calendar.js';

/** The size and the present day of a demo school. */
export interface DemoOptions {
  /** Students of the main school in the running session. The branch has a fifth of them. Default 1,200. */
  readonly students: number;
  /** Sessions up to the running one. Default 1. */
  readonly years: number;
  /** The same seed, day and sizes make the same school, byte by byte. */
  readonly seed: number;
  /** `YYYY-MM-DD` in India: nothing of the school is later. */
  readonly today: string;
}

/** The main school. */
export const DEMO_DOMAIN = 'demo';

export const DEMO_DEFAULTS = { students: 1200, years: 1, seed: 20_260_401 } as const;

/** The logins of the demo school; each has the `pltf_user` record `usr-<userName>` in both domains. */
export const DEMO_USERS = [
  { userName: 'admin', role: 'admin' },
  { userName: 'accountant', role: 'accountant' },
  { userName: 'teacher', role: 'teacher' },
  { userName: 'clerk', role: 'clerk' },
  { userName: 'viewer', role: 'viewer' },
] as const;

/** The settings that decide who can reach the gateway, and whether the demo school is wanted. */
export interface DemoSettings {
  readonly demo?: boolean | undefined;
  readonly host: string;
  readonly publicUrl?: string | undefined;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

/** Whether other machines can reach the gateway, according to its settings. */
export function isReachable({ host, publicUrl }: DemoSettings): boolean {
  return publicUrl !== undefined || !LOOPBACK.test(host);
}

/** Whether to make the demo school and to show its logins, whose passwords everybody knows. */
export function isDemoWanted(settings: DemoSettings): boolean {
  return settings.demo ?? !isReachable(settings);
}

const LIMITS = { students: [12, 200_000], years: [1, 12], seed: [0, Number.MAX_SAFE_INTEGER] } as const;

/** @throws INVALID_VALUE (400) that names the option, what was given and what is allowed */
export function assertDemoOptions(options: DemoOptions): void {
  for (const name of ['students', 'years', 'seed'] as const) {
    const [least, greatest] = LIMITS[name];
    const value = options[name];
    if (Number.isInteger(value) && value >= least && value <= greatest) continue;
    throw invalid(name, value, `a whole number from ${least} to ${greatest}`);
  }
  if (!isDay(options.today) || options.today < '2010-01-01' || options.today > '2099-12-31') {
    throw invalid('today', options.today, 'a day YYYY-MM-DD from 2010 to 2099');
  }
}

function invalid(parameter: keyof DemoOptions, sent: unknown, expected: string): ServiceError {
  const detail = `${parameter}: ${expected} is expected, ${JSON.stringify(sent)} was given`;
  return invalidAt(detail, { parameter, expected, sent });
}
