import { Alert, Anchor, Group } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { useSession } from '../session/session-context';
import { EntranceCard } from './entrance-card';
import { IdentityChoice } from './identity-choice';
import { LoginForm } from './login-form';

/** The public facts about the school. */
interface School {
  /** Its name; null if there is no school yet. */
  readonly school: string | null;
  readonly demoUsers: readonly string[];
  /** The name of the identity provider that users may log in with; null if there is none. */
  readonly identityProvider: string | null;
}

export function LoginPage() {
  const t = useTexts();
  const session = useSession();
  const school = useSchool();
  return (
    <EntranceCard
      title={t('Log in')}
      subtitle={school?.school ?? t('All of a school’s records, in one place')}
    >
      {school?.school === null && (
        <Alert variant="light" title={t('No school has been set up yet')}>
          {t('Set it up with the link printed in the gateway’s log.')}
        </Alert>
      )}
      <IdentityChoice provider={school?.identityProvider ?? null}>
        <LoginForm demoUsers={school?.demoUsers ?? []} onLogin={(login) => session.logIn(login)} />
      </IdentityChoice>
      <Group gap="md" justify="center">
        <Anchor size="sm" href="/docs">
          {t('REST documentation')}
        </Anchor>
        <Anchor size="sm" href="/manual">
          {t('Manual')}
        </Anchor>
      </Group>
    </EntranceCard>
  );
}

/** `undefined` until it is loaded. */
function useSchool(): School | undefined {
  const [school, setSchool] = useState<School>();
  useEffect(() => {
    fetch('/explore/school.json')
      .then((response) => response.json())
      .then(setSchool, () => undefined);
  }, []);
  return school;
}
