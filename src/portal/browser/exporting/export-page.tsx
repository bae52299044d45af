/** Exports records as files: of some or all collections, filtered, or changed since an instant. */
import { Card, Code, Group, Loader, MultiSelect, Stack, Text, Title } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { CollectionDeclaration } from '../../../generated/portal/records/records';
import { readInParts } from '../gateway/read-in-parts';
import {
  saveFile,
  useDownload,
  useGateway,
  useOperation,
  useRights,
  useTitleOf,
  useViewer,
} from '../gateway/use-gateway';
import { fromWallTime, toWallTime } from '../language/days';
import { ProblemWords } from '../language/problem-words';
import { formats, phrase, t } from '../language/texts';
import { FilterButton } from '../records/filter-button';
import { EXPORT_FORMATS } from '../records/view-address';
import { toError } from '../session/gateway-problem';
import { CodeToCopy } from '../shell/code-to-copy';
import { DayInput, DayTimeInput } from '../shell/day-input';
import { StateTag } from '../shell/icon';
import { ListTable } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { PageFrame, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { ChoiceField } from '../shell/text-field';
import { type AskedExport, exportAddress, exportByCommand, exportByCurl } from './asked-export';

const NOTHING_ASKED = { collections: '', oquery: '', where: '', since: '', format: 'csv' };

export function ExportPage() {
  const { collections: known, domain } = useViewer();
  const readable = known.filter(({ canRead }) => canRead);
  const [address, change, field] = useAddress(NOTHING_ASKED);
  const running = useExport();
  const collections = readable
    .map(({ name }) => name)
    .filter((name) => address.collections.split(',').includes(name));
  const [only] = collections.length === 1 ? collections : [];
  const asked: AskedExport = {
    ...address,
    collections,
    ...(only === undefined && { oquery: '', where: '' }),
  };
  return (
    <PageFrame title={t('Export')} description={t('Download the records you may read')}>
      <div className={collections.length > 0 ? 'export-columns' : undefined}>
        <Stack>
          <Card withBorder padding="lg">
            <Stack>
              <MultiSelect
                label={t('Collections')}
                placeholder={collections.length === 0 ? t('Choose one or more') : ''}
                data={readable.map(({ name, title }) => ({ value: name, label: title }))}
                value={[...collections]}
                onChange={(names) => change({ collections: names.join(',') }, 'replace')}
                nothingFoundMessage={t('Nothing found')}
                searchable
                clearable
                clearButtonProps={{ 'aria-label': t('Clear {field}', { field: t('Collections') }) }}
              />
              <Group align="flex-start" grow preventGrowOverflow={false}>
                <ChoiceField
                  label={t('Format')}
                  data={EXPORT_FORMATS.map(([value, label]) => ({ value, label }))}
                  {...field('format')}
                />
                <DayTimeInput
                  label={t('Only changes since')}
                  description={t('Includes removed records, by their _id only. Leave empty for everything.')}
                  inputWrapperOrder={['label', 'input', 'description']}
                  value={address.since === '' ? '' : toWallTime(address.since, domain.timeZone).slice(0, 16)}
                  onChange={(local) =>
                    change({ since: local === '' ? '' : fromWallTime(local, domain.timeZone) }, 'replace')
                  }
                />
              </Group>
              {only !== undefined && (
                <FilterOfExport
                  key={only}
                  collection={only}
                  oquery={address.oquery}
                  where={address.where}
                  onFilter={(filter) => change(filter, 'replace')}
                />
              )}
              <Group>
                <TextButton
                  label={t('Export')}
                  isMain
                  icon="download"
                  disabled={collections.length === 0 || running.isRunning}
                  onClick={() => running.start(asked)}
                />
                {running.isRunning && <TextButton label={t('Stop')} onClick={running.stop} />}
              </Group>
            </Stack>
          </Card>
          <FormatCard canRead={(name) => readable.some((one) => one.name === name)} />
          {running.files.length > 0 && <ExportedFiles files={running.files} />}
          {running.next !== undefined && !running.isRunning && (
            <Group>
              <Text>
                {t('Next time, export changes since')} <Code>{running.next}</Code>
              </Text>
              <TextButton
                label={t('Use it')}
                size="compact-sm"
                onClick={() => change({ since: running.next ?? '' }, 'replace')}
              />
            </Group>
          )}
        </Stack>
        {collections.length > 0 && <ExportRequests asked={asked} />}
      </div>
    </PageFrame>
  );
}

/** The formats of other programs, and the collection without which there is nothing to export. */
const SCHOOL_FORMATS: readonly (readonly [name: string, title: string, collection: string])[] = [
  ['tally', phrase('Tally (receipt vouchers)'), 'fee_receipt'],
  ['udise', phrase('UDISE+ (student sheet)'), 'registration'],
  ['oneroster', phrase('OneRoster (classes and people)'), 'pltf_user'],
];

/** Records as the files of another program, for those who may read them. */
function FormatCard({ canRead }: { canRead(collection: string): boolean }) {
  const formatsToRead = SCHOOL_FORMATS.filter(([, , collection]) => canRead(collection));
  const [chosen, setChosen] = useState(formatsToRead[0]?.[0] ?? '');
  const [{ from, to }, setDays] = useState({ from: '', to: '' });
  const { mutate, isPending, error } = useDownload();
  if (formatsToRead.length === 0) return null;
  const hasDays = chosen === 'tally';
  const query = new URLSearchParams(
    Object.entries({ from, to }).filter(([, day]) => hasDays && day !== ''),
  ).toString();
  const path = `/exports/${chosen}${query && `?${query}`}`;
  return (
    <Card withBorder padding="lg">
      <Stack>
        <Title order={2} size="h4">
          {t('Files for other programs')}
        </Title>
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <ChoiceField
            label={t('Program')}
            data={formatsToRead.map(([value, title]) => ({ value, label: t(title) }))}
            value={chosen}
            onChange={setChosen}
          />
          {hasDays && (
            <>
              <DayInput label={t('First day')} value={from} onChange={(day) => setDays({ from: day, to })} />
              <DayInput
                label={t('Last day')}
                value={to}
                min={from}
                onChange={(day) => setDays({ from, to: day })}
              />
            </>
          )}
        </Group>
        {error && <ProblemState problem={error} />}
        <Group>
          <TextButton
            label={t('Download')}
            icon="download"
            loading={isPending}
            onClick={() => mutate({ path, name: `${chosen}.zip` })}
          />
        </Group>
      </Stack>
    </Card>
  );
}

interface FilterOfExportProps {
  readonly collection: string;
  readonly oquery: string;
  readonly where: string;
  onFilter(filter: Pick<AskedExport, 'oquery' | 'where'>): void;
}

function FilterOfExport({ collection, oquery, where, onFilter }: FilterOfExportProps) {
  const { readableFields } = useRights(collection) ?? {};
  const { data } = useOperation(CollectionDeclaration, { name: collection });
  const fields = data?.collection?.fields.filter(
    ({ name }) => !readableFields || readableFields.includes(name),
  );
  return (
    <Group gap="xs">
      <FilterButton {...{ oquery, where, onFilter }} fields={fields ?? []} disabled={!fields} />
    </Group>
  );
}

/** The same export for programs, with an API key or on the machine of the gateway. */
function ExportRequests({ asked }: { readonly asked: AskedExport }) {
  const command = exportByCommand(asked);
  return (
    <Stack>
      <CodeToCopy title="curl" text={exportByCurl(asked, location.origin)} />
      {command !== undefined && <CodeToCopy title={t('On the gateway’s machine')} text={command} />}
    </Stack>
  );
}

export interface ExportedFile {
  readonly collection: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped';
  readonly bytes: number;
  readonly problem?: Error;
}

export interface RunningExport {
  readonly files: readonly ExportedFile[];
  readonly isRunning: boolean;
  /** The start of the next export of changes: the earliest of its files. */
  readonly next: string | undefined;
  start(asked: AskedExport): void;
  stop(): void;
}

/** Reporting every piece would render the page a thousand times a second. */
const TELL_EVERY_MS = 200;

export function useExport(): RunningExport {
  const gateway = useGateway();
  const [files, setFiles] = useState<readonly ExportedFile[]>([]);
  const [next, setNext] = useState<string>();
  const ending = useRef<AbortController>(undefined);
  const stop = useCallback(() => ending.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const change = (collection: string, changes: Partial<ExportedFile>) =>
    setFiles((before) => before.map((one) => (one.collection === collection ? { ...one, ...changes } : one)));

  async function exportOne(asked: AskedExport, collection: string, signal: AbortSignal): Promise<void> {
    change(collection, { state: 'running' });
    const response = await gateway.fetchAnswer(exportAddress(asked, collection), { signal });
    const from = response.headers.get('x-next-since');
    let toldAt = 0;
    const file = await readInParts(response, (bytes) => {
      if (Date.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = Date.now();
      change(collection, { bytes });
    });
    saveFile(file, `${collection}.${asked.format}`);
    change(collection, { state: 'done', bytes: file.size });
    if (from !== null) setNext((before) => (before !== undefined && before < from ? before : from));
  }

  async function run(asked: AskedExport, signal: AbortSignal): Promise<void> {
    setNext(undefined);
    setFiles(asked.collections.map((collection) => ({ collection, state: 'waiting', bytes: 0 })));
    for (const collection of asked.collections) {
      try {
        signal.throwIfAborted();
        await exportOne(asked, collection, signal);
      } catch (fault) {
        if (signal.aborted) change(collection, { state: 'stopped' });
        else change(collection, { state: 'failed', problem: toError(fault) });
      }
    }
  }

  return {
    files,
    isRunning: files.some(({ state }) => state === 'waiting' || state === 'running'),
    next,
    start(asked) {
      stop();
      const controller = new AbortController();
      ending.current = controller;
      void run(asked, controller.signal);
    },
    stop,
  };
}

const STATE_NAMES: Readonly<Record<ExportedFile['state'], string>> = {
  waiting: phrase('Waiting'),
  running: phrase('In progress'),
  done: phrase('Saved'),
  failed: phrase('Failed'),
  stopped: phrase('Stopped'),
};

export function ExportedFiles({ files }: { readonly files: readonly ExportedFile[] }) {
  const titleOf = useTitleOf();
  return (
    <Stack gap="xs">
      <ListTable
        label={t('Files of this export')}
        rows={files}
        keyOf={({ collection }) => collection}
        columns={[
          [
            t('Collection'),
            ({ collection, problem }) => (
              <>
                {titleOf(collection)}
                {problem && (
                  <Text c="red" className="wrapped">
                    <ProblemWords text={problem.message} />
                  </Text>
                )}
              </>
            ),
          ],
          [
            t('State'),
            ({ state }) => (
              <StateTag state={state}>
                {state === 'running' && <Loader size={10} />}
                {t(STATE_NAMES[state])}
              </StateTag>
            ),
          ],
          [t('Size'), ({ bytes }) => formats.bytes(bytes), 'numeric'],
        ]}
      />
      <Text c="dimmed" role="status">
        {t('{done} of {all} files saved', {
          done: formats.number(files.filter(({ state }) => state === 'done').length),
          all: formats.number(files.length),
        })}
      </Text>
    </Stack>
  );
}
