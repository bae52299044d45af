import { Anchor, Group } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { useSession } from '../session/session-context';
import { EntranceCard } from './entrance-card';
import { IdentityChoice } from './identity-choice';
import { LoginForm } from './login-form';

/** What anyone may know of the school. */
interface School {
  readonly school: string | null;
  readonly demoUsers: readonly string[];
  /** What the provider of identities is called at which one may log in instead; null: there is none. */
  readonly identityProvider: string | null;
}

export function LoginPage() {
  const t = useTexts();
  const session = useSession();
  const school = useSchool();
  return (
    <EntranceCard
      title={t('Log in')}
      subtitle={school.school ?? t('Records, reports and interfaces of a school')}
    >
      <IdentityChoice provider={school.identityProvider}>
        <LoginForm demoUsers={school.demoUsers} onLogin={(login) => session.logIn(login)} />
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

function useSchool(): School {
  const [school, setSchool] = useState<School>({ school: null, demoUsers: [], identityProvider: null });
  useEffect(() => {
    fetch('/explore/school.json')
      .then((response) => response.json())
      .then(setSchool, () => undefined);
  }, []);
  return school;
}
