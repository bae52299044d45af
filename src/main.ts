#!/usr/bin/env node
/**
 * `campus`: runs cli/program.ts as `npm run compile` bundled it. TypeScript does not know that file, so its
 * address is put together here.
 */
await import(new URL('./program/program.js', import.meta.url).href);

export {};
