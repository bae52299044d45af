/** One script: its code and triggers, runs, log and versions. */
import { Button, Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { DropScript, ScriptNow, ScriptsOfSchool } from '../../../generated/portal/scripts/scripts';
import { useChange, useOperation } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { GatewayProblem } from '../session/gateway-problem';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { useAddress } from '../shell/page-filter';
import { LoadingState, PageFrame, ProblemState } from '../shell/states';
import { ScriptEditor } from './script-editor';
import { ScriptLogTab } from './script-log-tab';
import { RunTab, ScriptRunsTab } from './script-runs-tab';
import { VersionsTab } from './versions-tab';

export function ScriptDetailsPage() {
  const t = useTexts();
  const { script: name = '' } = useParams({ strict: false }) as { readonly script?: string };
  const [{ tab }, change] = useAddress({ tab: 'code' });
  const { data, error, refetch } = useOperation(ScriptNow, { name });
  const isNew = error instanceof GatewayProblem && error.code === 'NOT_FOUND';
  const script = isNew ? undefined : (data?.script ?? undefined);
  return (
    <PageFrame
      title={name}
      above={[{ label: t('Scripts'), to: '/portal/scripts' }]}
      description={script?.description}
      actions={script && <RemoveButton name={name} />}
    >
      {error && !isNew && <ProblemState problem={error} retry={() => void refetch()} />}
      {!data && !error && <LoadingState rows={12} />}
      {(data || isNew) && (
        <Tabs value={tab} onChange={(next) => change({ tab: next ?? 'code' })} keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="code">{t('Code')}</Tabs.Tab>
            {script && (
              <>
                <Tabs.Tab value="run">{t('Run')}</Tabs.Tab>
                <Tabs.Tab value="runs">{t('Runs')}</Tabs.Tab>
                <Tabs.Tab value="log">{t('Log')}</Tabs.Tab>
                <Tabs.Tab value="versions">{t('Versions')}</Tabs.Tab>
              </>
            )}
          </Tabs.List>
          <Tabs.Panel value="code">
            <ScriptEditor key={name} name={name} script={script} />
          </Tabs.Panel>
          <Tabs.Panel value="run">
            <RunTab name={name} />
          </Tabs.Panel>
          <Tabs.Panel value="runs">
            <ScriptRunsTab name={name} />
          </Tabs.Panel>
          <Tabs.Panel value="log">
            <ScriptLogTab name={name} />
          </Tabs.Panel>
          <Tabs.Panel value="versions">
            <VersionsTab name={name} code={script?.code ?? ''} />
          </Tabs.Panel>
        </Tabs>
      )}
    </PageFrame>
  );
}

function RemoveButton({ name }: { readonly name: string }) {
  const t = useTexts();
  const navigate = useNavigate();
  const [isAsked, setIsAsked] = useState(false);
  const remove = useChange(DropScript, [ScriptsOfSchool]);
  return (
    <>
      <Button variant="default" onClick={() => setIsAsked(true)}>
        {t('Remove')}
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={t('Remove {name}?', { name })}
          action={t('Remove')}
          isDangerous
          isBusy={remove.isPending}
          problem={remove.error}
          onConfirm={() =>
            remove.mutate({ name }, { onSuccess: () => void navigate({ to: '/portal/scripts' }) })
          }
          onClose={() => setIsAsked(false)}
        >
          {t('It will not run any more and its code is deleted. Copy it first if you may need it again.')}
        </ConfirmDialog>
      )}
    </>
  );
}
