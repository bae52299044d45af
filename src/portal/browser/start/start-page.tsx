/** For who writes a program: the first request, with a key of theirs, and what else there is. */
import {
  Anchor,
  Button,
  Group,
  NativeSelect,
  Paper,
  SimpleGrid,
  Stack,
  Tabs,
  Text,
  Title,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { KeysToStartWith, type KeysToStartWithQuery } from '../../../generated/portal/start/start';
import { useGateway } from '../gateway/gateway-context';
import { saveFile } from '../gateway/save-file';
import { useOperation } from '../gateway/use-operation';
import { readScopes } from '../keys/picked-scopes';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';
import { PageFrame } from '../shell/page-frame';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { useAddress } from '../shell/use-address';
import { useViewer, type Viewer } from '../shell/viewer';
import { codeExamples } from './code-examples';
import { readSchemaText } from './read-schema-text';

type OwnKey = KeysToStartWithQuery['apiKeys'][number];

export function StartPage() {
  const t = useTexts();
  const { id: viewerId } = useViewer();
  const { data, error, refetch } = useOperation(KeysToStartWith, {});
  const keys = data?.apiKeys.filter((key) => key.userId === viewerId && isGood(key));
  return (
    <PageFrame
      title={t('Start here')}
      description={t('From a key to the first answer, in the language your program is written in')}
    >
      <Stack gap="md">
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!error && !keys && <LoadingState />}
        {keys?.length === 0 && (
          <EmptyState
            icon="key"
            title={t('You have no key yet')}
            action={
              <Button component={Link} to="/portal/keys">
                {t('Make one')}
              </Button>
            }
          />
        )}
        {keys && keys.length > 0 && <Examples keys={keys} />}
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Downloads />
          <Links />
        </SimpleGrid>
      </Stack>
    </PageFrame>
  );
}

function isGood({ revokedAt, expiresAt }: OwnKey): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}

function Examples({ keys }: { readonly keys: readonly OwnKey[] }) {
  const t = useTexts();
  const viewer = useViewer();
  const [{ key: chosen, language }, change] = useAddress({ key: '', language: 'curl' });
  const key = keys.find(({ id }) => id === chosen) ?? keys[0];
  if (!key) return null;
  const collection = readableBy(key, viewer);
  const examples = codeExamples({
    origin: location.origin,
    collection: collection ?? 'task',
    prefix: key.prefix,
  });
  return (
    <Paper component="section" withBorder p="md">
      <Stack gap="sm">
        <NativeSelect
          className="narrow-form"
          label={t('Key')}
          description={t('Its secret is known to you alone: the examples read it from CAMPUS_KEY.')}
          value={key.id}
          onChange={({ currentTarget }) => change({ key: currentTarget.value })}
          data={keys.map(({ id, name, prefix }) => ({ value: id, label: `${name} (${prefix}…)` }))}
        />
        {collection === undefined && (
          <Text size="sm">{t('This key may read no collection: the answer will be 403.')}</Text>
        )}
        <Tabs value={language} onChange={(next) => change({ language: next ?? 'curl' })} keepMounted={false}>
          <Tabs.List>
            {examples.map(({ title }) => (
              <Tabs.Tab key={title} value={title}>
                {title}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {examples.map(({ title, text }) => (
            <Tabs.Panel key={title} value={title} pt="sm">
              <CodeToCopy title={title} text={text} />
            </Tabs.Panel>
          ))}
        </Tabs>
      </Stack>
    </Paper>
  );
}

/** The name of a collection that both the key and its owner may read. */
function readableBy({ scopes }: OwnKey, { collections }: Viewer): string | undefined {
  const { collections: verbs } = readScopes(scopes);
  const isWithin = (name: string) => [verbs[name], verbs['*']].some((some) => some?.includes('read'));
  return collections.find(({ name, canRead }) => canRead && isWithin(name))?.name;
}

function Downloads() {
  const t = useTexts();
  const gateway = useGateway();
  const download = useMutation({
    mutationFn: async (file: 'schema.graphql' | 'openapi.json' | 'postman.json') =>
      saveFile(
        file === 'schema.graphql'
          ? new Blob([await readSchemaText(gateway)], { type: 'application/graphql' })
          : await gateway.fetchFile(`/${file}`),
        file,
      ),
  });
  const files = [
    ['schema.graphql', t('The schema of GraphQL')],
    ['openapi.json', t('OpenAPI of REST')],
    ['postman.json', t('The same for Postman')],
  ] as const;
  return (
    <Section title={t('Download')} note={t('What you may use of it, as your account is now')}>
      <Group gap="xs">
        {files.map(([file, label]) => (
          <Button
            key={file}
            variant="default"
            loading={download.isPending && download.variables === file}
            onClick={() => download.mutate(file)}
          >
            {label}
          </Button>
        ))}
      </Group>
      {download.error && <ProblemState problem={download.error} />}
    </Section>
  );
}

function Links() {
  const t = useTexts();
  return (
    <Section title={t('Try and read')}>
      <ul className="plain-list link-list">
        <li>
          <Anchor href="/explore">{t('GraphQL explorer')}</Anchor>
        </li>
        <li>
          <Anchor href="/docs">{t('REST documentation')}</Anchor>
        </li>
        <li>
          <Anchor href="/graphql">{t('Apollo Sandbox, which needs the internet')}</Anchor>
        </li>
        <li>
          <Anchor href="/manual">{t('Manual')}</Anchor>
        </li>
      </ul>
    </Section>
  );
}

interface SectionProps {
  readonly title: string;
  readonly note?: string;
  readonly children: ReactNode;
}

function Section({ title, note, children }: SectionProps) {
  return (
    <Paper component="section" withBorder p="md">
      <Title order={2} size="h4">
        {title}
      </Title>
      {note !== undefined && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
      <Stack gap="sm" mt="sm">
        {children}
      </Stack>
    </Paper>
  );
}
