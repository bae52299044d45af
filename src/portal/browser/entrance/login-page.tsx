import { Alert, Anchor, Button, Divider, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useSession } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import { lazyPart } from '../shell/states';
import { EntranceCard, RefusalNotice } from './entrance-card';
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
  const session = useSession();
  const { data: school } = useQuery({
    queryKey: ['school'],
    queryFn: async (): Promise<School> => await (await fetch('/explore/school.json')).json(),
    networkMode: 'always',
  });
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
        <Anchor href="/docs">{t('REST documentation')}</Anchor>
        <Anchor href="/manual">{t('Manual')}</Anchor>
      </Group>
    </EntranceCard>
  );
}

const CodeStep = lazyPart(async () => (await import('./code-step')).CodeStep);

/**
 * Messages for errors with which the identity provider returned to the log-in page, by their code in the
 * address.
 */
const REFUSALS: Readonly<Record<string, string>> = {
  stale: phrase('The log-in took too long, or was begun in another browser. Try again.'),
  refused: phrase('The other service did not confirm who you are.'),
  unverified: phrase('The other service has not verified your email address.'),
  unknown: phrase('No user here has your email address. Ask your administrator.'),
  unreachable: phrase('The other service cannot be reached. Log in with your password.'),
};

interface IdentityChoiceProps {
  /** The name of the identity provider; null if there is none. */
  readonly provider: string | null;
  /** The form to log in by a password, which is always available. */
  readonly children: ReactNode;
}

/** Offers the identity provider beside the password, and shows the result of coming back from it. */
function IdentityChoice({ provider, children }: IdentityChoiceProps) {
  const session = useSession();
  const [outcome, setOutcome] = useState(() => new URLSearchParams(location.search).get('login') ?? '');
  // A message is not shown again after a reload or logout. A code can still be exchanged after a reload.
  useEffect(() => {
    if (outcome !== 'code') history.replaceState(history.state, '', askedPage());
  }, [outcome]);
  if (outcome === 'code')
    return (
      <CodeStep
        onCode={async (code) => {
          await session.logInByCode(code);
          history.replaceState(history.state, '', askedPage());
        }}
        onBack={() => setOutcome('')}
      />
    );
  const refusal = REFUSALS[outcome];
  return (
    <Stack gap="md">
      <RefusalNotice>{refusal && t(refusal)}</RefusalNotice>
      {children}
      {provider !== null && (
        <>
          <Divider label={t('or')} />
          <Button
            component="a"
            href={`/auth/browser/oidc/start?${new URLSearchParams({ to: askedPage() })}`}
            variant="default"
            fullWidth
          >
            {t('Log in with {provider}', { provider })}
          </Button>
        </>
      )}
    </Stack>
  );
}

/** The page that needs the log-in, without the parameters of the log-in. */
function askedPage(): string {
  const { pathname, search } = new URL(location.href);
  const query = new URLSearchParams(search);
  query.delete('login');
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}
