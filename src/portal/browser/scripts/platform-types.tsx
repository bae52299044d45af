import { text } from 'platform:types';
import { LazyCodeEditor } from '../editor/lazy-editor';
import { t } from '../language/texts';

/** The declarations of all functions that a script may call, with examples. */
export function PlatformTypes() {
  return <LazyCodeEditor label={t('What a script may call')} language="typescript" value={text} />;
}
