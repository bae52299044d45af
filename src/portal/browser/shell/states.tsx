/** What stands where a page has nothing to show: it loads, is empty, failed, or is not for this user. */
import { Alert, Button, Center, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { GatewayProblem } from '../gateway/gateway-problem';
import { useTexts } from '../language/use-texts';
import { Icon, type IconName } from './icon';
import { PageFrame } from './page-frame';
import { useViewer } from './viewer';

/** As tall as what is to come, so that nothing jumps. */
export function LoadingState({ rows = 6 }: { readonly rows?: number }) {
  const t = useTexts();
  return (
    <Stack gap="sm" aria-busy="true" role="status" aria-label={t('Loading')}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
        <Skeleton key={row} height={28} radius="sm" />
      ))}
    </Stack>
  );
}

export interface EmptyStateProps {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  /** What to do next. */
  readonly action?: ReactNode;
}

export function EmptyState({ icon = 'inbox', title, children, action }: EmptyStateProps) {
  return (
    <Center py="xl">
      <Stack align="center" gap="xs" maw={460} ta="center">
        <span className="state-sign">
          <Icon name={icon} size={28} />
        </span>
        <Text fw={600}>{title}</Text>
        {children !== undefined && (
          <Text component="div" size="sm" c="dimmed">
            {children}
          </Text>
        )}
        {action && (
          <Group gap="sm" justify="center" mt="xs">
            {action}
          </Group>
        )}
      </Stack>
    </Center>
  );
}

export interface ProblemStateProps {
  readonly problem: Error;
  readonly retry?: () => void;
}

/** The problem in the gateway's own words, with the id that its log knows the request by. */
export function ProblemState({ problem, retry }: ProblemStateProps) {
  const t = useTexts();
  const known = problem instanceof GatewayProblem ? problem : undefined;
  const title =
    known?.kind === 'unreachable' ? t('The gateway cannot be reached') : t('Something went wrong');
  return (
    <Alert color="red" variant="light" title={title} icon={<Icon name="warning" />} role="alert">
      <Stack gap="xs">
        <Text size="sm" className="wrapped">
          {known?.kind === 'unreachable'
            ? t('Check your connection. Nothing you entered is lost. Try again in a moment.')
            : problem.message}
        </Text>
        <Group gap="sm">
          {retry && (
            <Button size="compact-sm" variant="default" onClick={retry}>
              {t('Try again')}
            </Button>
          )}
          {known?.requestId !== undefined && (
            <Text size="xs" c="dimmed" className="wrapped">
              {known.code} · {t('Request')} <Code>{known.requestId}</Code>
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** For an address that is typed: the menu does not offer the page. */
export function NoRightState({ label }: { readonly label: string }) {
  const t = useTexts();
  const { name, roles } = useViewer();
  return (
    <PageFrame title={t(label)}>
      <EmptyState
        icon="lock"
        title={t('You do not have access to this page')}
        action={
          <Button component={Link} to="/" variant="default">
            {t('Go to home')}
          </Button>
        }
      >
        {t('You are logged in as {name} ({roles}). An administrator can give you more rights.', {
          name,
          roles: roles.join(', '),
        })}
      </EmptyState>
    </PageFrame>
  );
}

export function NotFoundState() {
  const t = useTexts();
  return (
    <PageFrame title={t('Page not found')}>
      <EmptyState
        icon="search"
        title={t('There is nothing at this address')}
        action={
          <Button component={Link} to="/" variant="default">
            {t('Go to home')}
          </Button>
        }
      >
        {t('It may have been removed, or your role cannot see it.')}
      </EmptyState>
    </PageFrame>
  );
}

export interface SubjectProblemProps {
  readonly problem: Error | null;
  /** The heading where it is not for the viewer. */
  readonly label: string;
  /** The page, which says why else its subject did not come. */
  readonly children: ReactNode;
}

/** In place of a page about something that is not there, or not for the viewer, as the gateway says. */
export function SubjectProblem({ problem, label, children }: SubjectProblemProps) {
  const code = problem instanceof GatewayProblem ? problem.code : undefined;
  if (code === 'FORBIDDEN') return <NoRightState label={label} />;
  return code === 'NOT_FOUND' ? <NotFoundState /> : children;
}
