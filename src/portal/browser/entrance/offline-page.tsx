import { Text } from '@mantine/core';
import { useInterval, useWindowEvent } from '@mantine/hooks';
import { t } from '../language/texts';
import { Icon } from '../shell/icon';
import { TextButton } from '../shell/text-button';
import { EntranceCard } from './entrance-card';

const TRY_EVERY_MS = 10_000;

/** The portal that was opened, or reloaded, while the gateway could not be reached. Tries again by itself. */
export function OfflinePage({ onTry }: { onTry(): void }) {
  useWindowEvent('online', onTry);
  useInterval(onTry, TRY_EVERY_MS, { autoInvoke: true });
  return (
    <EntranceCard title={t('You are offline')} subtitle={t('All of a school’s records, in one place')}>
      <div className="offline-notice" role="status">
        <Icon name="offline" /> {t('You are offline')}
      </div>
      <Text>{t('The gateway cannot be reached. The page opens by itself as soon as it can.')}</Text>
      <TextButton label={t('Try again')} isMain onClick={onTry} />
    </EntranceCard>
  );
}
