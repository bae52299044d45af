import { Alert, Breadcrumbs, Center, Code, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle, useWindowEvent } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import {
  type ComponentType,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { useViewer } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { phrase, t } from '../language/texts';
import { codeOf, GatewayProblem } from '../session/gateway-problem';
import { Icon, type IconName } from './icon';
import { TextButton, TextLink } from './text-button';

export interface PageFrameProps {
  /** The heading of the page, and the title of the window. */
  readonly title: string;
  readonly description?: ReactNode;
  /** The pages above, from the top. */
  readonly above?: readonly { readonly label: string; readonly to: string }[];
  /** Buttons beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/**
 * The frame of every page. After a navigation, the heading gets the focus, so that a screen reader announces
 * the page and the keyboard continues from there.
 */
export function PageFrame({ title, description, above = [], actions, children }: PageFrameProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useDocumentTitle(`${title} · Campus Gateway`);
  useEffect(() => {
    // On the first load, the focus stays at the top of the document.
    if (document.body.dataset.navigated !== undefined) heading.current?.focus({ preventScroll: true });
    document.body.dataset.navigated = '';
  }, []);
  return (
    <>
      <header className="page-head">
        <div className="page-title">
          {above.length > 0 && (
            <Breadcrumbs mb={4} separatorMargin={6} className="no-print">
              {above.map(({ label, to }) => (
                <TextLink key={to} to={to}>
                  {label}
                </TextLink>
              ))}
            </Breadcrumbs>
          )}
          <Title order={1} size="h2" ref={heading} tabIndex={-1} title={title}>
            {title}
          </Title>
          {description !== undefined && (
            <Text component="div" c="dimmed" className="page-about">
              {description}
            </Text>
          )}
        </div>
        {actions !== undefined && (
          <Group gap="xs" className="page-actions">
            {actions}
          </Group>
        )}
      </header>
      {children}
    </>
  );
}

/** As tall as the expected content, so that the page does not shift. */
export function LoadingState({ rows = 6 }: { readonly rows?: number }) {
  return (
    <Stack gap="sm" aria-busy="true" role="status" aria-label={t('Loading')}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
        <Skeleton key={row} height={28} radius="sm" />
      ))}
    </Stack>
  );
}

/**
 * A component of another module, which is loaded when it is first shown. Until then, `rows` are as tall as it
 * will be; nothing by default.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  rows = 0,
): ComponentType<Props> {
  const Part = lazy(async () => ({ default: (await load()) as ComponentType<object> }));
  return (props) => (
    <Suspense fallback={rows > 0 && <LoadingState rows={rows} />}>
      <Part {...props} />
    </Suspense>
  );
}

interface EmptyStateProps {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  /** The next step, usually a button. */
  readonly action?: ReactNode;
}

export function EmptyState({ icon = 'inbox', title, children, action }: EmptyStateProps) {
  return (
    <Center py="xl">
      <Stack align="center" gap="xs" maw={460} ta="center">
        <span className="state-sign">
          <Icon name={icon} size={28} />
        </span>
        <Text fw={600} size="md">
          {title}
        </Text>
        {children !== undefined && (
          <Text component="div" c="dimmed">
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

const SOMETHING = phrase('Something went wrong');

/** The titles of refusals, by their code; any other problem is titled "Something went wrong". */
const TITLES: Readonly<Record<string, string>> = {
  BAD_USER_INPUT: phrase('Please check what you entered'),
  INVALID_VALUE: phrase('Please check what you entered'),
  LIMIT_EXCEEDED: phrase('Please check what you entered'),
  MALFORMED_FILTER: phrase('Please check what you entered'),
  WRONG_LOGIN: phrase('Please check what you entered'),
  FORBIDDEN: phrase('You are not allowed to do this'),
  TOO_MANY_REQUESTS: phrase('Too many requests'),
  CONFLICT: phrase('This cannot be done'),
  VERSION_CONFLICT: phrase('Someone else has changed this'),
};

/**
 * Shows the message of the gateway, with the id of the request in its log. A problem that the user can
 * correct is a warning; a failure of the gateway is red.
 */
export function ProblemState(props: ProblemStateProps) {
  const { problem } = props;
  return isMissingPart(problem) ? <MissingPart problem={problem} /> : <KnownProblem {...props} />;
}

function KnownProblem({ problem, retry }: ProblemStateProps) {
  const known = problem instanceof GatewayProblem ? problem : undefined;
  const isUnreachable = known?.kind === 'unreachable';
  useWindowEvent('online', () => isUnreachable && retry?.());
  const title = TITLES[known?.code ?? ''];
  return (
    <Alert
      color="red"
      variant={title ? 'default' : 'light'}
      className={title && 'warning-notice'}
      title={isUnreachable ? t('The gateway cannot be reached') : t(title ?? SOMETHING)}
      icon={<Icon name="warning" />}
      role="alert"
    >
      <Stack gap="xs">
        <Text className="wrapped">
          {isUnreachable ? (
            t('Check your connection. Nothing you entered is lost. Try again in a moment.')
          ) : (
            <ProblemWords text={problem.message} />
          )}
        </Text>
        <Group gap="sm">
          {retry && <TextButton label={t('Try again')} size="compact-sm" onClick={retry} />}
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

/** Replaces a part that did not load. React keeps the error, so only a reload of the page helps. */
function MissingPart({ problem }: { readonly problem: Error }) {
  const [cause, setCause] = useState<CauseOfMissing>();
  useEffect(() => void causeOfMissing(problem).then(setCause), [problem]);
  if (cause === undefined) return <LoadingState rows={3} />;
  if (cause === 'replaced') return <NewVersion />;
  const shown = cause === 'unreachable' ? unreachable() : new Error(problem.message.split(':')[0]);
  return <KnownProblem problem={shown} retry={() => location.reload()} />;
}

function NewVersion() {
  const router = useRouter({ warn: false });
  // Every link from here loads the new version.
  useEffect(
    () => router?.subscribe('onBeforeNavigate', ({ toLocation }) => location.assign(toLocation.href)),
    [router],
  );
  return (
    <EmptyState
      icon="history"
      title={t('The portal has a new version')}
      action={<TextButton label={t('Reload')} isMain onClick={() => location.reload()} />}
    >
      {t('Reload the page to continue. Unsaved changes to records are kept.')}
    </EmptyState>
  );
}

/** Shown at the typed address of a page that the viewer has no access to; the menu does not contain it. */
export function NoRightState({ label }: { readonly label: string }) {
  const { name, roles } = useViewer();
  return (
    <PageFrame title={t(label)}>
      <EmptyState
        icon="lock"
        title={t('You do not have access to this page')}
        action={<TextButton label={t('Go to home')} to="/" />}
      >
        {t('You are logged in as {name} ({roles}). An administrator can give you more rights.', {
          name,
          roles: roles.join(', '),
        })}
      </EmptyState>
    </PageFrame>
  );
}

export interface NotFoundStateProps {
  /** The pages above, from the top; the last one lists the existing things. */
  readonly above?: PageFrameProps['above'];
  /** Replaces the button that leads to the last of these pages. */
  readonly action?: ReactNode;
}

export function NotFoundState({ above = [], action }: NotFoundStateProps) {
  const back = above.at(-1) ?? { label: t('Go to home'), to: '/' };
  return (
    <PageFrame title={t('Page not found')} above={above}>
      <EmptyState
        icon="search"
        title={t('There is nothing at this address')}
        action={action ?? <TextButton label={back.label} to={back.to} />}
      >
        {t('It may have been removed, or your role cannot see it.')}
      </EmptyState>
    </PageFrame>
  );
}

interface SubjectProblemProps {
  readonly problem: Error | null;
  /** The heading if the viewer may not see the subject. */
  readonly label: string;
  /** Shown in place of a missing subject. */
  readonly missing?: ReactNode;
  /** The page, which shows any other error. */
  readonly children: ReactNode;
}

/** Replaces a page whose subject does not exist, or that the viewer may not see. */
export function SubjectProblem({
  problem,
  label,
  missing = <NotFoundState />,
  children,
}: SubjectProblemProps) {
  const code = codeOf(problem);
  if (code === 'FORBIDDEN') return <NoRightState label={label} />;
  return code === 'NOT_FOUND' ? missing : children;
}

type CauseOfMissing = 'replaced' | 'unreachable' | 'unknown';

/** Whether the error means that a script failed to load; its text differs between browsers. */
function isMissingPart({ message }: Error): boolean {
  return /dynamically imported module|Importing a module script failed/.test(message);
}

/** Finds out why a part did not load: the gateway no longer has the file, or does not answer. */
export async function causeOfMissing({ message }: Error): Promise<CauseOfMissing> {
  const script = document.querySelector<HTMLScriptElement>('script[type=module]')?.src;
  const address = /https?:\/\/\S+/.exec(message)?.[0] ?? script ?? '/';
  const answer = await fetch(address, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
  if (!answer) return 'unreachable';
  return answer.status === 404 ? 'replaced' : 'unknown';
}

export function unreachable(): GatewayProblem {
  return new GatewayProblem('You are offline.', { kind: 'unreachable', code: 'UNREACHABLE' });
}

export interface QueryAnswer<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

interface AnsweredProps<Data> {
  readonly of: QueryAnswer<Data>;
  /** The height of the expected content, in rows. */
  readonly rows?: number;
  /** Shown in place of an empty list. */
  readonly empty?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

/** Shows the answer; until it arrives, a placeholder, or else the error. */
export function Answered<Data>({ of, rows = 6, empty, children }: AnsweredProps<Data>) {
  const { data, error, refetch } = of;
  const isEmpty = empty !== undefined && Array.isArray(data) && data.length === 0;
  return (
    <>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && data === undefined && <LoadingState rows={rows} />}
      {data !== undefined && (isEmpty ? empty : children(data))}
    </>
  );
}

interface TitledSectionProps {
  readonly title: string;
  /** The space below the heading. */
  readonly mb?: string | number;
  /** Draws a border around the section. Default: none. */
  readonly isFramed?: boolean;
  readonly children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function TitledSection({ title, mb = 'xs', isFramed = false, children }: TitledSectionProps) {
  const heading = useId();
  const content = (
    <>
      <Title mb={mb} id={heading}>
        {title}
      </Title>
      {children}
    </>
  );
  // A landmark of this name may be within, such as a table.
  const common = { role: 'group', 'aria-labelledby': heading, children: content };
  return isFramed ? <Paper withBorder p="md" {...common} /> : <div {...common} />;
}
