declare module '*.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module 'catalog:*' {
  import type { Messages } from '@lingui/core';
  export const messages: Messages;
}
/** `schema/platform.d.ts` as text. */
declare module 'platform:types' {
  export const text: string;
}
/** Defined by the bundler: the addresses of the web workers and styles of the explorer's editor. */
declare const WORKER_URLS: Readonly<Record<'editor' | 'json' | 'graphql', string>>;
declare const EXPLORER_STYLE: string;
/** Defined by the bundler: the addresses of the texts of each language. */
declare const CATALOG_URLS: Readonly<Record<'en' | 'hi', string>>;
