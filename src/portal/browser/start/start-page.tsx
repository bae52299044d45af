/** The first page for developers: a working request with their key, and links to the documentation. */
import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type IntrospectionQuery } from 'graphql';
import { type ReactNode } from 'react';
import { KeysToStartWith, type KeysToStartWithQuery } from '../../../generated/portal/start/start';
import { type GatewayClient } from '../gateway/gateway-client';
import { saveFile, useGateway, useOperation, useViewer, type Viewer } from '../gateway/use-gateway';
import { readScopes } from '../keys/scope-tree';
import { t } from '../language/texts';
import { type CodeExample, CodeToCopy, printRequestCode } from '../shell/code-to-copy';
import { PageTab, PageTabs, useAddress } from '../shell/page-filter';
import { LoadingState, PageFrame, ProblemState, TitledSection } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { ChoiceField } from '../shell/text-field';

type OwnKey = KeysToStartWithQuery['apiKeys'][number];

export function StartPage() {
  const { id: viewerId } = useViewer();
  const { data, error, refetch } = useOperation(KeysToStartWith, {});
  const keys = data?.apiKeys.filter(({ userId, revokedAt, expiresAt }) => {
    return userId === viewerId && revokedAt === null && Date.parse(expiresAt ?? '9999') > Date.now();
  });
  return (
    <PageFrame
      title={t('Start here')}
      description={t('Make your first request to the API, in the language of your choice')}
    >
      <Stack gap="md">
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!error && !keys && <LoadingState />}
        {keys && <Examples keys={keys} />}
        <div className="section-columns">
          <Downloads />
          <Links />
        </div>
      </Stack>
    </PageFrame>
  );
}

function Examples({ keys }: { readonly keys: readonly OwnKey[] }) {
  const viewer = useViewer();
  const [{ key: chosen }, change] = useAddress({ key: '' });
  const key = keys.find(({ id }) => id === chosen) ?? keys[0];
  const collection = key && readableBy(key, viewer);
  const examples = codeExamples(collection ?? 'task', key?.prefix);
  return (
    <Paper component="section" withBorder p="md">
      <Stack gap="md">
        <Step number={1} title={t('Choose a key')}>
          {key === undefined ? (
            <Group gap="sm">
              <Text>{t('You have no key yet.')}</Text>
              <TextButton label={t('New key')} isMain to="/portal/keys" icon="plus" />
            </Group>
          ) : (
            <ChoiceField
              className="narrow-form"
              aria-label={t('Key')}
              description={t('Only you have its secret: the examples read it from CAMPUS_KEY.')}
              value={key.id}
              onChange={(next) => change({ key: next })}
              data={keys.map(({ id, name, prefix }) => ({ value: id, label: `${name} (${prefix}…)` }))}
            />
          )}
          {key !== undefined && collection === undefined && (
            <Text>{t('This key may read no collection: the answer will be 403.')}</Text>
          )}
        </Step>
        <Step number={2} title={t('Send your first request')}>
          <PageTabs parameter="language">
            {examples.map(({ title, text }) => (
              <PageTab key={title} name={title} label={title}>
                <CodeToCopy title={title} text={text} />
              </PageTab>
            ))}
          </PageTabs>
        </Step>
      </Stack>
    </Paper>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ number, title, children }: StepProps) {
  return (
    <section className="start-step">
      <span className="step-number" data-done aria-hidden="true">
        {number}
      </span>
      <Stack gap="sm" miw={0}>
        <Title>{title}</Title>
        {children}
      </Stack>
    </section>
  );
}

/** The name of a collection that both the key and its owner may read. */
function readableBy({ scopes }: OwnKey, { collections }: Viewer): string | undefined {
  const { collections: verbs } = readScopes(scopes);
  const isWithin = (name: string) => [verbs[name], verbs['*']].some((some) => some?.includes('read'));
  return collections.find(({ name, canRead }) => canRead && isWithin(name))?.name;
}

function Downloads() {
  const gateway = useGateway();
  const download = useMutation({
    mutationFn: async (file: 'schema.graphql' | 'openapi.json') =>
      saveFile(
        file === 'schema.graphql'
          ? new Blob([await readSchemaText(gateway)], { type: 'application/graphql' })
          : await gateway.fetchFile(`/${file}`),
        file,
      ),
  });
  const files = [
    ['schema.graphql', t('GraphQL schema')],
    ['openapi.json', t('OpenAPI (REST)')],
  ] as const;
  return (
    <TitledSection isFramed mb={0} title={t('Download')}>
      <Text c="dimmed">{t('They contain what your account may use')}</Text>
      <Group gap="xs" my="sm">
        {files.map(([file, label]) => (
          <TextButton
            key={file}
            label={label}
            loading={download.isPending && download.variables === file}
            onClick={() => download.mutate(file)}
          />
        ))}
      </Group>
      {download.error && <ProblemState problem={download.error} />}
    </TitledSection>
  );
}

function Links() {
  const links = [
    ['/explore', t('GraphQL explorer'), t('Write queries and see their answers as tables and charts')],
    ['/docs', t('REST documentation'), t('Every path, to try in the browser')],
    ['/manual', t('Manual'), t('Guides, tutorials and the exact contract')],
    ['/graphql', 'Apollo Sandbox', t('Another GraphQL explorer; it needs the internet')],
  ] as const;
  return (
    <TitledSection isFramed mb="sm" title={t('Explore and read')}>
      <ul className="plain-list link-list">
        {links.map(([address, title, about]) => (
          <li key={address}>
            <div>
              <Anchor href={address} fw={600}>
                {title}
              </Anchor>
              <Text c="dimmed">{about}</Text>
            </div>
          </li>
        ))}
      </ul>
    </TitledSection>
  );
}

/**
 * The first request of a program, in common languages. `prefix` is the beginning of the key; only its owner
 * has the rest.
 */
function codeExamples(collection: string, prefix: string | undefined): readonly CodeExample[] {
  const { origin } = location;
  const key = prefix === undefined ? 'your API key' : `the key that begins with ${prefix}`;
  const address = `${origin}/o/recs/${encodeURIComponent(collection)}?limit=3`;
  return [
    ...printRequestCode({ address, key }),
    {
      title: 'Apps Script',
      text: `// Put ${key} into the script properties, as CAMPUS_KEY.
function readRecords() {
  const key = PropertiesService.getScriptProperties().getProperty('CAMPUS_KEY');
  const response = UrlFetchApp.fetch('${address}', {
    headers: { Authorization: 'Bearer ' + key },
  });
  console.log(JSON.parse(response.getContentText()));
}`,
    },
    {
      title: 'GraphQL',
      text: `# CAMPUS_KEY is ${key}
curl -s -H "Authorization: Bearer $CAMPUS_KEY" -H 'Content-Type: application/json' \\
  '${origin}/graphql' -d '{"query": "{ me { userName collections { name canRead } } }"}'`,
    },
  ];
}

/** The schema visible to the viewer, as text. The printer is loaded on demand. */
async function readSchemaText(gateway: GatewayClient): Promise<string> {
  const { buildClientSchema, getIntrospectionQuery, printSchema } = await import('graphql');
  const query = getIntrospectionQuery({ inputValueDeprecation: true });
  const introspected = await gateway.executeText<IntrospectionQuery>(
    query,
    {},
    { name: 'IntrospectionQuery' },
  );
  return `${printSchema(buildClientSchema(introspected))}\n`;
}
