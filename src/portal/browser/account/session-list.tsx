import { Stack, Text } from '@mantine/core';
import {
  EndOneSession,
  EndSessionsOfUser,
  SessionsOfUser,
  type SessionsOfUserQuery,
} from '../../../generated/portal/account/sessions';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { ActionButton, ChangeButton, notice } from '../shell/confirm-dialog';
import { ActionsHead, ListTable } from '../shell/list-table';
import { Answered, EmptyState } from '../shell/states';
import { nameProgram } from './name-program';

type ListedSession = SessionsOfUserQuery['sessions'][number];

/** The open sessions of a user. One can be ended, or all except the current one. */
export function SessionList({ userId }: { readonly userId: string }) {
  const isOwn = useViewer().id === userId;
  const answer = useOperation(SessionsOfUser, { userId });
  const title = isOwn ? t('Log out everywhere else') : t('Log out everywhere');
  const about = isOwn
    ? t('All your other sessions end at once. API keys keep working.')
    : t('All sessions of this user end at once, except the one you are in. API keys keep working.');
  return (
    <Answered of={answer} rows={3}>
      {({ sessions }) =>
        sessions.length === 0 ? (
          <EmptyState icon="user" title={t('No sessions')} />
        ) : (
          <Stack align="flex-start">
            <ListTable<ListedSession>
              label={t('Sessions')}
              rows={sessions}
              columns={[
                [t('Logged in'), ({ createdAt }) => formats.instant(createdAt)],
                [t('Last active'), ({ lastSeenAt, createdAt }) => formats.instant(lastSeenAt ?? createdAt)],
                [t('Address'), ({ address }) => address],
                [t('Browser or app'), (session) => <ProgramName {...session} />, 'wrapped'],
                [<ActionsHead key="actions" />, (session) => <EndButton session={session} />, 'unbroken'],
              ]}
            />
            {sessions.some(({ isCurrent }) => !isCurrent) && (
              <ChangeButton
                title={title}
                action={title}
                isDangerous
                change={EndSessionsOfUser}
                variables={{ userId }}
                outdated={[SessionsOfUser]}
                onDone={({ endSessions: count }) =>
                  notice(t('{count, plural, one {# session has} other {# sessions have}} ended.', { count }))
                }
              >
                {about}
              </ChangeButton>
            )}
          </Stack>
        )
      }
    </Answered>
  );
}

/** The short name of the program. The tooltip shows the whole `User-Agent`. */
function ProgramName({ userAgent }: Pick<ListedSession, 'userAgent'>) {
  const { program, system } = nameProgram(userAgent ?? '');
  return (
    <span title={userAgent ?? undefined}>
      {system === undefined ? program : t('{program} on {system}', { program, system })}
    </span>
  );
}

function EndButton({ session }: { readonly session: ListedSession }) {
  const { id, createdAt, address, isCurrent } = session;
  if (isCurrent) return <Text c="dimmed">{t('This session')}</Text>;
  return (
    <ActionButton
      label={t('End')}
      size="compact-sm"
      aria-label={t('End the session of {address}, {instant}', {
        address: address ?? '–',
        instant: formats.instant(createdAt),
      })}
      change={EndOneSession}
      variables={{ id }}
      outdated={[SessionsOfUser]}
      done={() => t('The session has ended.')}
    />
  );
}
