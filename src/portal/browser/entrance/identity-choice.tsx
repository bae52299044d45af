import { Alert, Button, Divider, Stack } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { phrase, useTexts } from '../language/use-texts';
import { useSession } from '../session/session-context';

const CodeStep = lazy(async () => ({ default: (await import('./code-step')).CodeStep }));

/** Why the way back from the provider ended at the log-in page, by what stands in its address. */
const REFUSALS: Readonly<Record<string, string>> = {
  stale: phrase('The log-in took too long, or was begun in another browser. Try again.'),
  refused: phrase('The other service did not confirm who you are.'),
  unverified: phrase('The other service has not verified your email address.'),
  unknown: phrase('No user here has your email address. Ask your administrator.'),
  unreachable: phrase('The other service cannot be reached. Log in with your password.'),
};

export interface IdentityChoiceProps {
  /** What the provider of identities is called; null: there is none. */
  readonly provider: string | null;
  /** The log-in by a password, which is there all the same. */
  readonly children: ReactNode;
}

/** Beside the password, the way to a provider of identities, and what came of it. */
export function IdentityChoice({ provider, children }: IdentityChoiceProps) {
  const t = useTexts();
  const session = useSession();
  const [outcome, setOutcome] = useState(() => new URLSearchParams(location.search).get('login') ?? '');
  // What is told once is not told again after a reload or a logout; a code may still be given after a reload.
  useEffect(() => {
    if (outcome !== 'code') history.replaceState(history.state, '', askedPage());
  }, [outcome]);
  if (outcome === 'code')
    return (
      <Suspense>
        <CodeStep
          onCode={async (code) => {
            await session.logInByCode(code);
            history.replaceState(history.state, '', askedPage());
          }}
          onBack={() => setOutcome('')}
        />
      </Suspense>
    );
  const refusal = REFUSALS[outcome];
  return (
    <Stack gap="md">
      {refusal !== undefined && (
        <Alert color="red" variant="light" p="sm" role="alert">
          {t(refusal)}
        </Alert>
      )}
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

/** The page that the log-in stands before, without what is told of the log-in. */
function askedPage(): string {
  const { pathname, search } = new URL(location.href);
  const query = new URLSearchParams(search);
  query.delete('login');
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}
