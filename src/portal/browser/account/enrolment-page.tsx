import { Text } from '@mantine/core';
import { useState } from 'react';
import { EntranceCard } from '../entrance/entrance-card';
import { useSession } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { TextButton } from '../shell/text-button';
import { RecoveryCodes, SecondFactorSetup } from './second-factor-setup';

export interface EnrolmentPageProps {
  readonly school: string;
  /** Called when the session has the rights of its user. */
  onDone(): void;
}

/**
 * For users who have logged in without the second factor that their role needs. They must set it up first.
 */
export function EnrolmentPage({ school, onDone }: EnrolmentPageProps) {
  const session = useSession();
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <EntranceCard title={t('Two-factor authentication')} subtitle={school}>
      <Text>
        {t('Your role requires two-factor authentication: your password and a code from your phone.')}
      </Text>
      {codes ? <RecoveryCodes {...{ codes, onDone }} /> : <SecondFactorSetup onCodes={setCodes} />}
      <TextButton
        label={t('Log out')}
        variant="subtle"
        size="compact-sm"
        onClick={() => void session.logOut()}
      />
    </EntranceCard>
  );
}
