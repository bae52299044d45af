declare module '*.css';
/** Filled in by the bundler: where it put the web workers of the editor. */
declare const WORKER_URLS: Readonly<Record<'editor' | 'json' | 'graphql', string>>;
