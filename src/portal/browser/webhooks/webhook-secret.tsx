import { useTexts } from '../language/use-texts';
import { SecretOnce, type SecretOnceProps } from '../shell/secret-once';

/** Shows the secret of a webhook after it was created or replaced. */
export function WebhookSecret(props: Pick<SecretOnceProps, 'secret' | 'onClose'>) {
  const t = useTexts();
  return (
    <SecretOnce
      title={t('Secret')}
      words={t('The receiver uses it to check that a delivery is genuine. It will not be shown again.')}
      {...props}
    />
  );
}
