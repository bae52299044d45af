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
/** The address of a web worker, which Vite bundles by itself. */
declare module '*?worker&url' {
  const address: string;
  export default address;
}
/** Defined by the bundler: the addresses of the texts of each language. */
declare const CATALOG_URLS: Readonly<Record<'en' | 'hi', string>>;
interface ImportMeta {
  /** The modules of the patterns by their paths, each loaded when it is called. Vite generates them. */
  glob(
    patterns: readonly string[],
  ): Readonly<Record<string, () => Promise<Readonly<Record<string, import('react').ComponentType>>>>>;
}

declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => void;
  export default SwaggerUIBundle;
}
