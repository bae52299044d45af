/** Passwords that cost little, for tests of anything but their cost: what ships takes 20 ms of a core. */
import type { PasswordCost } from '../src/services/auth/passwords.js';

export const CHEAP: PasswordCost = { memoryCost: 64, timeCost: 1, parallelism: 1 };
