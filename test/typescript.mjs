/** `node --import ./test/typescript.mjs <file>.ts`: runs our TypeScript as it stands. */
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
