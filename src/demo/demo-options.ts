/** How large a demo school is, and when it is. */
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

export const DEMO_DEFAULTS = { students: 1200, years: 1, seed: 20_260_401 } as const;

/** The logins of the demo school; each has the `pltf_user` record `usr-<userName>` in both domains. */
export const DEMO_USERS = [
  { userName: 'admin', role: 'admin' },
  { userName: 'accountant', role: 'accountant' },
  { userName: 'teacher', role: 'teacher' },
  { userName: 'clerk', role: 'clerk' },
  { userName: 'viewer', role: 'viewer' },
] as const;
