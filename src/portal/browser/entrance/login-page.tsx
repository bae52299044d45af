import {
  Alert,
  Anchor,
  Button,
  Divider,
  Group,
  Modal,
  PasswordInput,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useSession } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import type { Credentials, SessionUser } from '../session/login-session';
import { lazyPart } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { EntranceCard, EntranceForm, type EntranceTexts, RefusalNotice } from './entrance-card';

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

/** Loaded for those who have a second factor. */
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

interface LoginFormProps {
  /** Filled in and fixed if an ended session is being resumed. */
  readonly userName?: string;
  /** The users of the demo school, offered as buttons. */
  readonly demoUsers: readonly string[];
  onLogin(login: Credentials): Promise<void>;
}

/** The form for user name and password, and then for the code of a second factor, if the user has one. */
function LoginForm(props: LoginFormProps) {
  // The credentials are held in memory only, and discarded with the form.
  const [accepted, setAccepted] = useState<Credentials>();
  if (accepted === undefined) return <PasswordStep {...props} onCodeNeeded={setAccepted} />;
  return (
    <CodeStep onCode={(code) => props.onLogin({ ...accepted, code })} onBack={() => setAccepted(undefined)} />
  );
}

interface PasswordStepProps extends LoginFormProps {
  /** Called if the password is correct and a code is needed as well. */
  onCodeNeeded(login: Credentials): void;
}

function PasswordStep({ userName, demoUsers, onLogin, onCodeNeeded }: PasswordStepProps) {
  const [hasBranch, setHasBranch] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // Nothing else on the page comes first.
  useEffect(() => {
    form.current?.querySelector<HTMLInputElement>('input:not([readonly])')?.focus();
  }, []);

  async function send({ userName: user = '', password = '', domain = '' }: EntranceTexts) {
    const login = { userName: user, password, domain };
    try {
      await onLogin(login);
    } catch (error) {
      if (codeOf(error) !== 'SECOND_FACTOR_REQUIRED') throw error;
      onCodeNeeded(login);
    }
  }

  function fillIn(user: string) {
    for (const [name, value] of [
      ['userName', user],
      ['password', `demo-${user}`],
    ] as const) {
      const input = form.current?.querySelector<HTMLInputElement>(`input[name=${name}]`);
      if (input) input.value = value;
    }
    form.current?.requestSubmit();
  }

  return (
    <EntranceForm
      ref={form}
      action={t('Log in')}
      send={send}
      below={
        <>
          <details className="forgotten-password">
            <summary>{t('Forgot your password?')}</summary>
            <Text mt={6}>
              {t('Ask an administrator of your school for a link to choose a new one.')}{' '}
              {t('They make it in “People”, on your page, by “Reset password”.')}
            </Text>
          </details>
          {demoUsers.length > 0 && userName === undefined && (
            <section className="demo-logins" aria-label={t('Demo school: log in as')}>
              <Text c="dimmed" mb={6}>
                {t('Demo school: log in as')}
              </Text>
              <Group gap={6}>
                {demoUsers.map((user) => (
                  <TextButton
                    key={user}
                    label={user}
                    variant="light"
                    size="compact-sm"
                    onClick={() => fillIn(user)}
                  />
                ))}
              </Group>
              <Text size="xs" c="dimmed" mt={6}>
                {t('Each password is “demo-” followed by the user name.')}
              </Text>
            </section>
          )}
        </>
      }
    >
      <TextInput
        name="userName"
        label={t('User name')}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        withAsterisk={false}
        defaultValue={userName}
        readOnly={userName !== undefined}
      />
      <PasswordInput
        name="password"
        label={t('Password')}
        autoComplete="current-password"
        required
        withAsterisk={false}
        // A dialog would focus its first field, the user name, which is known.
        data-autofocus={userName !== undefined || undefined}
      />
      {userName === undefined &&
        (hasBranch ? (
          <TextInput
            name="domain"
            label={t('Branch')}
            description={t('The ID your administrator gave you')}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        ) : (
          <TextButton
            label={t('Log in to a branch')}
            variant="subtle"
            size="compact-sm"
            className="login-branch"
            onClick={() => setHasBranch(true)}
          />
        ))}
    </EntranceForm>
  );
}

/**
 * The log-in above a page whose session has ended. The page keeps its state, and pending requests continue
 * after the log-in.
 */
export function SessionEnded({ user }: { readonly user: SessionUser }) {
  const session = useSession();
  return (
    <Modal
      opened
      onClose={() => undefined}
      title={t('Your session has ended')}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Text>{t('Log in again to continue. Nothing you have open is lost.')}</Text>
        <LoginForm
          userName={user.userName}
          demoUsers={[]}
          onLogin={(login) => session.logIn({ ...login, domain: user.domain })}
        />
        <TextButton
          label={t('Log in as someone else')}
          variant="subtle"
          onClick={() => void session.logOut()}
        />
      </Stack>
    </Modal>
  );
}
