import { Button, Modal, Stack, Text } from '@mantine/core';
import { useTexts } from '../language/use-texts';
import type { SessionUser } from '../session/login-session';
import { useSession } from '../session/session-context';
import { LoginForm } from './login-form';

/**
 * The log-in above a page whose session has ended. The page keeps its state, and pending requests continue
 * after the log-in.
 */
export function SessionEnded({ user }: { readonly user: SessionUser }) {
  const t = useTexts();
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
        <Text size="sm">{t('Log in again to continue. Nothing you have open is lost.')}</Text>
        <LoginForm
          userName={user.userName}
          demoUsers={[]}
          onLogin={(login) => session.logIn({ ...login, domain: user.domain })}
        />
        <Button variant="subtle" onClick={() => void session.logOut()}>
          {t('Log in as someone else')}
        </Button>
      </Stack>
    </Modal>
  );
}
