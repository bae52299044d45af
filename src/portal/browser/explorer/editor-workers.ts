/**
 * Tells Monaco, the editor in GraphiQL, the addresses of its web workers on our own server. It must be
 * imported before GraphiQL.
 */
import editor from 'monaco-editor/esm/vs/editor/editor.worker.js?worker&url';
import json from 'monaco-editor/esm/vs/language/json/json.worker.js?worker&url';
import graphql from 'monaco-graphql/esm/graphql.worker.js?worker&url';

const urls: Readonly<Record<string, string>> = { json, graphql };

Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_id: string, label: string) => new Worker(urls[label] ?? editor, { name: label }),
  },
});
