declare module '*.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module 'catalog:*' {
  import type { Messages } from '@lingui/core';
  export const messages: Messages;
}
/** `schema/platform.d.ts` as a text. */
declare module 'platform:types' {
  export const text: string;
}
/** Filled in by the bundler: where it put the web workers and the styles of the explorer's editor. */
declare const WORKER_URLS: Readonly<Record<'editor' | 'json' | 'graphql', string>>;
declare const EXPLORER_STYLE: string;
/** Filled in by the bundler: where it put the texts of each language. */
declare const CATALOG_URLS: Readonly<Record<'en' | 'hi', string>>;
