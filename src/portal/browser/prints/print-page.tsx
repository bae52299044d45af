/** A document of chosen records, as it is printed or made a PDF by the browser. */
import { Alert, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useViewer } from '../gateway/use-gateway';
import { sessionYearOf } from '../language/days';
import { useFormats, useTexts, useToday } from '../language/use-texts';
import { useAllowedWords, useFieldNames } from '../records/use-declared-collection';
import { orderInAddress } from '../records/view-address';
import { SetSelect, useSets } from '../sheets/set-select';
import { DayInput } from '../shell/day-input';
import { useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, NotFoundState, PageFrame, ProblemState } from '../shell/states';
import { PrintDocument } from './print-document';
import { type PrintChoice, type PrintHead, type PrintLayout, usePrints } from './print-head';
import { type PrintSubject, usePrintLayout, usePrintPages } from './use-print-pages';

export function PrintPage() {
  const { print: name = '' } = useParams({ strict: false }) as { readonly print?: string };
  const head = usePrints().find((one) => one.name === name);
  const { layout, error } = usePrintLayout(name);
  if (!head) return <NotFoundState />;
  if (error) return <ProblemState problem={error} />;
  return layout ? <PrintOf key={name} {...{ head, layout }} /> : <LoadingState />;
}

interface PrintOfProps {
  readonly head: PrintHead;
  readonly layout: PrintLayout;
}

function PrintOf({ head, layout }: PrintOfProps) {
  const t = useTexts();
  const today = useToday();
  const { sessionFirstMonth, collections } = useViewer();
  const { by = [], choose = [], orderBy = [], plural } = layout;
  const [address, setAddress] = useAddress<Readonly<Record<string, string>>>({
    ...{ collection: layout.collection, where: '', oquery: '', sort: '', set: '' },
    ...Object.fromEntries(choose.map(({ name }) => [name, ''])),
  });
  const { collection = '', where = '', oquery = '', sort = '', set: wanted = '' } = address;
  const isOfRecords = where !== '' || oquery !== '';
  const sets = useSets({ plural: isOfRecords ? null : plural, by });
  const set = wanted || (sets.data?.length === 1 ? (sets.data[0] ?? '') : '');
  const byDefault: Readonly<Record<PrintChoice['kind'], string>> = {
    ...{ session: sessionYearOf(today, sessionFirstMonth), month: today.slice(0, 7), day: today },
    ...{ text: '', values: '' },
  };
  const chosen = Object.fromEntries(
    choose.map(({ name, kind, values = [] }) => [name, address[name] || values[0] || byDefault[kind]]),
  );
  const values = Object.fromEntries(by.map((field, index) => [field, set.split('|')[index] ?? '']));
  const conditions = Object.entries(values).map(([field, value]) => [field, { equals: value }]);
  const subject: PrintSubject = {
    ...{ collection, oquery, chosen, set: set === '' ? {} : values },
    where: isOfRecords ? parseWhere(where) : { ...layout.where, ...Object.fromEntries(conditions) },
    orderBy: sort === '' ? orderBy.map((field) => ({ field })) : orderInAddress(sort),
  };
  const isReady = isOfRecords || set !== '';
  const { data, error, refetch } = usePrintPages(layout, isReady ? subject : undefined);
  const title = collections.find(({ name }) => name === collection)?.title ?? collection;
  return (
    <PageFrame title={head.title} above={[{ label: title, to: `/portal/records/${collection}` }]}>
      <Stack gap="sm">
        <Group gap="sm" align="flex-end" className="no-print sheet-choices">
          {!isOfRecords && by.length > 0 && sets.data && (
            <SetSelect
              {...{ by, sets: sets.data, value: set }}
              onChange={(next) => setAddress({ set: next }, 'replace')}
            />
          )}
          {choose.map((choice) => (
            <Choice
              key={choice.name}
              {...{ choice, layout, value: chosen[choice.name] ?? '' }}
              onChange={(next) => setAddress({ [choice.name]: next }, 'replace')}
            />
          ))}
          <Button onClick={() => print()} disabled={!data || data.pages.length === 0}>
            {t('Print or save as PDF')}
          </Button>
        </Group>
        {data?.hasMore && (
          <Alert role="note" color="yellow" variant="light" p="xs" className="no-print">
            {t('These are the first {count, number} pages. Filter the records to print the others.', {
              count: data.pages.length,
            })}
          </Alert>
        )}
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!isReady && !sets.isLoading && <EmptyState icon="file" title={t('Choose what to print')} />}
        {isReady && !data && !error && <LoadingState />}
        {data?.pages.length === 0 && <EmptyState icon="file" title={t('Nothing found')} />}
        {data && data.pages.length > 0 && <PrintDocument {...{ layout, collection }} pages={data.pages} />}
      </Stack>
    </PageFrame>
  );
}

/** A text of the address that is no filter finds nothing. */
function parseWhere(text: string): Readonly<Record<string, unknown>> {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return { _id: { equals: text } };
  }
}

interface ChoiceProps {
  readonly choice: PrintChoice;
  readonly layout: PrintLayout;
  readonly value: string;
  onChange(value: string): void;
}

function Choice({ choice: { name, label: told, kind, values = [] }, layout, value, onChange }: ChoiceProps) {
  const nameOf = useFieldNames();
  const wordOf = useAllowedWords();
  const { locale } = useFormats();
  const label = layout.translations?.[locale.slice(0, 2)]?.words?.[told ?? ''] ?? told ?? nameOf(name);
  if (kind === 'values') {
    const data = values.map((one) => ({ value: one, label: wordOf(one.toLowerCase()) }));
    return (
      <Select {...{ label, data, value }} onChange={(next) => onChange(next ?? '')} allowDeselect={false} />
    );
  }
  if (kind === 'day') return <DayInput {...{ label, value, onChange }} />;
  return (
    <TextInput
      {...{ label, value }}
      type={kind === 'month' ? 'month' : 'text'}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
