import { useTexts } from '../language/use-texts';
import { SecretOnce, type SecretOnceProps } from '../shell/secret-once';

/** Shows a new key. */
export function KeySecret(props: Pick<SecretOnceProps, 'secret' | 'onClose'>) {
  const t = useTexts();
  return (
    <SecretOnce title={t('Key')} words={t('Copy the key now. It will not be shown again.')} {...props} />
  );
}
