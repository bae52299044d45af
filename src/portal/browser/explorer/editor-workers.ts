/**
 * Tells Monaco, the editor in GraphiQL, where its web workers are: beside this script, on our own server.
 * Imported before GraphiQL.
 */
export {};

const urls = new Map<string, string>(Object.entries(WORKER_URLS));

Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_id: string, label: string) =>
      new Worker(urls.get(label) ?? WORKER_URLS.editor, { name: label }),
  },
});
