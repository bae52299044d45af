/** One import, step by step: the file, its columns, the dry run, the run. */
import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import {
  AnyImportChanged,
  type AnyImportChangedSubscription,
  CancelImport,
  ImportNow,
  type ImportNowQuery,
  type ShownImportFragment,
} from '../../../generated/portal/imports/imports';
import { useAskAnew, useEvents, useOperation, useTitleOf } from '../gateway/use-gateway';
import { ProblemList, ProblemWords } from '../language/problem-words';
import { t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import { ChangeButton } from '../shell/confirm-dialog';
import { Icon, StateTag } from '../shell/icon';
import { useAddress } from '../shell/page-filter';
import { Answered, NotFoundState, PageFrame } from '../shell/states';
import { IMPORT_STATES, IMPORT_STEPS, type Inspection, isUnderWay, stepOf } from './import-steps';
import { keepsWhatIsWritten } from './keeps-what-is-written';
import { MappingStep } from './mapping-step';
import { ImportProgress, RunStep, TrialStep } from './run-step';

export function ImportDetailsPage() {
  const { import: id = '' } = useParams({ strict: false }) as { readonly import?: string };
  const titleOf = useTitleOf();
  const answer = useOperation(ImportNow, { id });
  const { data, error } = answer;
  useProgress(id);
  const above = [{ label: t('Import'), to: '/portal/imports' }];
  if (codeOf(error) === 'NOT_FOUND') return <NotFoundState above={above} />;
  const one = data?.import;
  return (
    <PageFrame
      title={one?.name ?? t('Import')}
      above={above}
      description={one && t('Into {collection}', { collection: titleOf(one.collection) })}
      actions={
        one &&
        isUnderWay(one.state) && (
          <ChangeButton
            title={t('Stop this import?')}
            action={t('Stop')}
            change={CancelImport}
            variables={{ id }}
            outdated={[ImportNow]}
          >
            {keepsWhatIsWritten(one)
              ? t('Rows already imported stay, and can be undone afterwards.')
              : t('Nothing has been imported yet, and nothing will be.')}
          </ChangeButton>
        )
      }
    >
      <Answered of={answer}>{(result) => <ImportSteps one={result.import} />}</Answered>
    </PageFrame>
  );
}

/** Progress arrives by itself. When the state changes, the whole import is reloaded. */
function useProgress(id: string): void {
  const queries = useQueryClient();
  const askAnew = useAskAnew();
  const readAnew = () => void askAnew([ImportNow]);
  const onChange = ({ importChanged }: AnyImportChangedSubscription) => {
    if (importChanged.id !== id) return;
    const key = [ImportNow.name, { id }];
    const known = queries.getQueryData<ImportNowQuery>(key);
    if (known?.import.state === importChanged.state) {
      queries.setQueryData(key, { import: { ...known.import, ...importChanged } });
    } else readAnew();
  };
  useEvents(AnyImportChanged, {}, onChange, readAnew);
}

function ImportSteps({ one }: { readonly one: ShownImportFragment }) {
  const [{ step }, change] = useAddress({ step: '' });
  const reached = stepOf(one);
  // The user may go back to an earlier step as long as nothing is running and nothing was written.
  const mayGoBack = !isUnderWay(one.state) && one.state !== 'DONE' && one.mapping !== null;
  const shown = step === '1' && mayGoBack ? 1 : reached;
  return (
    <Stack gap="lg">
      <ol className="steps" aria-label={t('Steps')}>
        {IMPORT_STEPS.map((name, index) => (
          <li
            key={name}
            data-done={index < shown || one.state === 'DONE' || undefined}
            aria-current={index === shown ? 'step' : undefined}
          >
            <span className="step-number" aria-hidden="true">
              {index < shown || one.state === 'DONE' ? <Icon name="check" size={14} /> : index + 1}
            </span>
            {t(name)}
          </li>
        ))}
      </ol>
      <Group gap="xs">
        <StateTag state={one.state}>{t(IMPORT_STATES[one.state].name)}</StateTag>
        <FileFacts inspection={one.inspection as Inspection | null} />
      </Group>
      <Fault fault={one.fault} />
      {one.state === 'CANCELLED' && (
        <Text>
          {one.changeIds.length > 0
            ? t('This import was stopped. The records that it had imported stay.')
            : t('This import was stopped before anything was imported.')}
        </Text>
      )}
      {isUnderWay(one.state) && <ImportProgress one={one} />}
      {shown === 1 && <MappingStep key={one.id} one={one} onTried={() => change({ step: '' }, 'replace')} />}
      {shown === 2 && one.state === 'TRIED' && (
        <TrialStep one={one} onCorrect={() => change({ step: '1' })} />
      )}
      {shown === 3 && !isUnderWay(one.state) && <RunStep one={one} />}
    </Stack>
  );
}

function FileFacts({ inspection }: { readonly inspection: Inspection | null }) {
  if (inspection === null) return null;
  const { format, encoding, delimiter, sheet, rows, isWhole } = inspection;
  const parts = [
    format.toUpperCase(),
    encoding,
    delimiter !== undefined &&
      t('separated by {delimiter}', { delimiter: delimiter === '\t' ? 'TAB' : delimiter }),
    sheet,
    // Only the first rows of a large file were inspected.
    rows !== undefined && isWhole !== false && t('{rows, plural, one {# row} other {# rows}}', { rows }),
  ];
  return (
    <Text c="dimmed" className="wrapped">
      {parts.filter(Boolean).join(' · ')}
    </Text>
  );
}

interface ImportFault {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly detail: string }[];
}

function Fault({ fault }: { readonly fault: unknown }) {
  if (fault === null || fault === undefined) return null;
  const { code, detail, errors = [] } = fault as ImportFault;
  return (
    <Alert color="red" variant="light" title={t('This import failed')} icon={<Icon name="warning" />}>
      <Text className="wrapped">
        <ProblemWords text={detail} />
      </Text>
      <ProblemList texts={errors.slice(0, 20).map((one) => one.detail)} />
      <Code>{code}</Code>
    </Alert>
  );
}
