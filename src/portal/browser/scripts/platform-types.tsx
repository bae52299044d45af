import { text } from 'platform:types';
import { lazy } from 'react';
import { useTexts } from '../language/use-texts';

const CodeEditor = lazy(async () => ({ default: (await import('../editor/code-editor')).CodeEditor }));

/** The declarations of all functions that a script may call, with examples. */
export function PlatformTypes() {
  const t = useTexts();
  return <CodeEditor label={t('What a script may call')} language="typescript" value={text} />;
}
