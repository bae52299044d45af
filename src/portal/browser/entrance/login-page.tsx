import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { useSession } from '../session/session-context';
import { Brand } from './brand';
import { LoginForm } from './login-form';
import { Preferences } from './preferences';

/** What anyone may know of the school. */
interface School {
  readonly school: string | null;
  readonly demoUsers: readonly string[];
}

export function LoginPage() {
  const t = useTexts();
  const session = useSession();
  const school = useSchool();
  useEffect(() => {
    document.title = `${t('Log in')} · Campus Gateway`;
  });
  return (
    <main className="login-page">
      <Paper withBorder shadow="sm" p={{ base: 'lg', xs: 'xl' }} className="login-card">
        <Stack gap="lg">
          <div>
            <Group justify="space-between" wrap="nowrap">
              <Title order={1} size="h4">
                <Brand />
              </Title>
              <Preferences />
            </Group>
            <Text c="dimmed" mt={4}>
              {school.school ?? t('Records, reports and interfaces of a school')}
            </Text>
          </div>
          <LoginForm demoUsers={school.demoUsers} onLogin={(login) => session.logIn(login)} />
          <Group gap="md" justify="center">
            <Anchor size="sm" href="/docs">
              {t('REST documentation')}
            </Anchor>
            <Anchor size="sm" href="/manual">
              {t('Manual')}
            </Anchor>
          </Group>
        </Stack>
      </Paper>
    </main>
  );
}

function useSchool(): School {
  const [school, setSchool] = useState<School>({ school: null, demoUsers: [] });
  useEffect(() => {
    fetch('/explore/school.json')
      .then((response) => response.json())
      .then(setSchool, () => undefined);
  }, []);
  return school;
}
