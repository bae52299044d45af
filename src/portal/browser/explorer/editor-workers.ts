/**
 * Tells Monaco, the editor in GraphiQL, the addresses of its web workers on our own server. It must be
 * imported before GraphiQL.
 */
export {};

const urls = new Map<string, string>(Object.entries(WORKER_URLS));

Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_id: string, label: string) =>
      new Worker(urls.get(label) ?? WORKER_URLS.editor, { name: label }),
  },
});
