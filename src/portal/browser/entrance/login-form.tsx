import { Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { type Credentials, Refusal, type SessionUser } from '../session/login-session';
import { lazyPart } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { EntranceForm, type EntranceTexts } from './entrance-card';

/** Loaded for those who have a second factor. */
const CodeStep = lazyPart(async () => (await import('./code-step')).CodeStep);

export interface LoginFormProps {
  /** Filled in and fixed if an ended session is being resumed. */
  readonly userName?: string;
  /** The users of the demo school, offered as buttons. */
  readonly demoUsers: readonly string[];
  onLogin(login: Credentials): Promise<void>;
}

/** The form for user name and password, and then for the code of a second factor, if the user has one. */
export function LoginForm(props: LoginFormProps) {
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
      if (!(error instanceof Refusal) || error.code !== 'SECOND_FACTOR_REQUIRED') throw error;
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
