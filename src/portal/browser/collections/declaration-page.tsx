/** The declaration of a collection: its fields, its rules, undeclared fields in its records, and the text. */
import { Group, Tabs, Text } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import {
  DeclaredCollections,
  DropDeclaration,
  WholeDeclaration,
} from '../../../generated/portal/collections/collections';
import { PortalViewer } from '../../../generated/portal/shell/viewer';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { useReportWords, useTexts } from '../language/use-texts';
import { CountButton } from '../records/count-button';
import { GatewayProblem } from '../session/gateway-problem';
import { CodeSpans } from '../shell/code-to-copy';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { useAddress } from '../shell/page-filter';
import { LoadingState, PageFrame, ProblemState } from '../shell/states';
import { TextButton, TextLink } from '../shell/text-button';
import { DeclarationEditor, NO_VERSION } from './declaration-editor';
import { DeclarationFields, FoundFieldsTab } from './declaration-fields';
import { DeclarationRules } from './declaration-rules';
import type { WrittenDeclaration } from './written-declaration';

export function DeclarationPage() {
  const t = useTexts();
  const say = useReportWords();
  const { collection: name = '' } = useParams({ strict: false }) as { readonly collection?: string };
  const { collections, duties } = useViewer();
  const [{ tab }, change] = useAddress({ tab: 'fields' });
  const { data, error, refetch } = useOperation(WholeDeclaration, { name });
  const mayChange = duties.includes('collections');
  const isNew = error instanceof GatewayProblem && error.code === 'NOT_FOUND' && mayChange;
  const isDeclared = collections.some((one) => one.name === name && one.isDeclared);
  const written = data?.collectionDefinition as WrittenDeclaration | undefined;
  const version = data?.collection?.version ?? NO_VERSION;
  return (
    <PageFrame
      title={say(written?.title ?? name)}
      above={[{ label: t('Collections'), to: '/portal/collections' }]}
      description={written && <CodeSpans text={say(written.description ?? '')} />}
      actions={
        written && (
          <>
            <CountButton asked={{ collection: name, oquery: '', where: null }} />
            <TextButton label={t('Open records')} to={`/portal/records/${name}`} />
            {mayChange && !isDeclared && <DropButton name={name} />}
          </>
        )
      }
    >
      {error && !isNew && <ProblemState problem={error} retry={() => void refetch()} />}
      {!data && !error && <LoadingState rows={12} />}
      {isNew && <DeclarationEditor name={name} declared={undefined} />}
      {written && (
        <Tabs value={tab} onChange={(next) => change({ tab: next ?? 'fields' })} keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="fields">{t('Fields')}</Tabs.Tab>
            <Tabs.Tab value="rules">{t('Rules')}</Tabs.Tab>
            <Tabs.Tab value="found">{t('Undeclared fields')}</Tabs.Tab>
            <Tabs.Tab value="text">{t('Declaration')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="fields">
            <DeclarationFields collection={name} fields={written.fields ?? []} />
          </Tabs.Panel>
          <Tabs.Panel value="rules">
            <DeclarationRules written={written} />
          </Tabs.Panel>
          <Tabs.Panel value="found">
            <FoundFieldsTab collection={name} />
          </Tabs.Panel>
          <Tabs.Panel value="text">
            <DeclarationEditor
              key={version}
              name={name}
              declared={{ written, version }}
              isReadOnly={isDeclared || !mayChange}
            />
          </Tabs.Panel>
        </Tabs>
      )}
    </PageFrame>
  );
}

function DropButton({ name }: { readonly name: string }) {
  const t = useTexts();
  const navigate = useNavigate();
  const [isAsked, setIsAsked] = useState(false);
  const drop = useChange(DropDeclaration, [DeclaredCollections, PortalViewer]);
  return (
    <>
      <TextButton label={t('Drop')} onClick={() => setIsAsked(true)} />
      {isAsked && (
        <ConfirmDialog
          title={t('Drop {name}?', { name })}
          action={t('Drop')}
          isDangerous
          isBusy={drop.isPending}
          problem={drop.error}
          onConfirm={() =>
            drop.mutate({ name }, { onSuccess: () => void navigate({ to: '/portal/collections' }) })
          }
          onClose={() => setIsAsked(false)}
        >
          <Text>
            {t(
              'No one will be able to read or write its records, in any branch. This cannot be undone here.',
            )}
          </Text>
          <Group mt="sm" gap="xs">
            <CountButton asked={{ collection: name, oquery: '', where: null }} />
            <TextLink to={`/portal/records/${name}`}>{t('Open records')}</TextLink>
          </Group>
        </ConfirmDialog>
      )}
    </>
  );
}
