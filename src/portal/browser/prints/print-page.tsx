/** A document of chosen records, as it is printed or made a PDF by the browser. */

import { Alert, Group, Stack } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { PrintChoice, PrintHead, PrintLayout } from '../../../school/prints/print-definition.js';
import { useTitleOf, useViewer } from '../gateway/use-gateway';
import { sessionYearOf } from '../language/days';
import { formats, t, useToday } from '../language/texts';
import { sayAllowed, sayFieldName } from '../records/use-declared-collection';
import { orderInAddress } from '../records/view-address';
import { ParameterInput } from '../reports/parameters-form';
import { SetSelect, useSets } from '../sheets/set-select';
import { useAddress } from '../shell/page-filter';
import { readJsonObject } from '../shell/read-json';
import { Answered, EmptyState, LoadingState, NotFoundState, PageFrame, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { PrintDocument, type PrintSubject, usePrintLayout, usePrintPages } from './print-document';
import { usePrints } from './print-menu';

export function PrintPage() {
  const { print: name = '' } = useParams({ strict: false }) as { readonly print?: string };
  const head = usePrints().find((one) => one.name === name);
  const { layout, error } = usePrintLayout(name);
  if (!head) return <NotFoundState />;
  if (error) return <ProblemState problem={error} />;
  return layout ? <PrintOf key={name} {...{ head, layout }} /> : <LoadingState />;
}

function PrintOf({ head, layout }: { readonly head: PrintHead; readonly layout: PrintLayout }) {
  const today = useToday();
  const { sessionFirstMonth } = useViewer();
  const titleOf = useTitleOf();
  const { by = [], choose = [], orderBy = [], plural } = layout;
  const [address, , fieldOf] = useAddress<Readonly<Record<string, string>>>({
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
  const read = usePrintPages(layout, isReady ? subject : undefined);
  const { data } = read;
  return (
    <PageFrame
      title={head.title}
      above={[{ label: titleOf(collection), to: `/portal/records/${collection}` }]}
    >
      <Stack gap="sm">
        <Group gap="sm" align="flex-end" className="no-print sheet-choices">
          {!isOfRecords && by.length > 0 && sets.data && (
            <SetSelect {...{ by, sets: sets.data }} {...fieldOf('set')} value={set} />
          )}
          {choose.map((choice) => (
            <Choice
              key={choice.name}
              {...{ choice, layout }}
              {...fieldOf(choice.name)}
              value={chosen[choice.name] ?? ''}
            />
          ))}
          <TextButton
            label={t('Print or save as PDF')}
            isMain
            onClick={() => print()}
            disabled={!data || data.pages.length === 0}
          />
        </Group>
        {data?.hasMore && (
          <Alert role="note" color="yellow" variant="light" p="xs" className="no-print">
            {t('These are the first {count, number} pages. Filter the records to print the others.', {
              count: data.pages.length,
            })}
          </Alert>
        )}
        {!isReady && !sets.isLoading && <EmptyState icon="file" title={t('Choose what to print')} />}
        {isReady && (
          <Answered of={read}>
            {({ pages }) =>
              pages.length === 0 ? (
                <EmptyState icon="file" title={t('Nothing found')} />
              ) : (
                <PrintDocument {...{ layout, collection, pages }} />
              )
            }
          </Answered>
        )}
      </Stack>
    </PageFrame>
  );
}

/** An invalid filter in the address finds nothing. */
function parseWhere(text: string): Readonly<Record<string, unknown>> {
  return text === '' ? {} : (readJsonObject(text) ?? { _id: { equals: text } });
}

interface ChoiceProps {
  readonly choice: PrintChoice;
  readonly layout: PrintLayout;
  readonly value: string;
  onChange(value: string): void;
}

const TYPES: Readonly<Record<PrintChoice['kind'], string>> = {
  ...{ day: 'LocalDate', month: 'Month', session: 'String', text: 'String', values: 'String' },
};

function Choice({ choice: { name, label, kind, values }, layout, ...input }: ChoiceProps) {
  const { locale } = formats;
  const words = layout.translations?.[locale.slice(0, 2)]?.words;
  return (
    <ParameterInput
      parameter={{
        ...{ name: '', type: TYPES[kind], isRequired: kind === 'values', description: '' },
        choices: values ?? null,
        titles: Object.fromEntries((values ?? []).map((one) => [one, sayAllowed(one.toLowerCase())])),
        title: words?.[label ?? ''] ?? label ?? sayFieldName(name),
      }}
      {...input}
    />
  );
}
