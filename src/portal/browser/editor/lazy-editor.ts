import { lazyPart } from '../shell/states';

export const LazyCodeEditor = lazyPart(async () => (await import('./code-editor')).CodeEditor, 10);
