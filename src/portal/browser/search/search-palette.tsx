/** Searches records, reports, pages and the manual from any page. */
import { Modal, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import MiniSearch from 'minisearch';
import { type KeyboardEvent, useState } from 'react';
import { PortalSearch, type PortalSearchQuery } from '../../../generated/portal/search/search';
import { SEARCH_OPTIONS, type SearchedSection } from '../../pages/search-index.js';
import { useOperation, useTitleOf, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { PORTAL_PAGES } from '../portal-pages';
import { describeKnown, useKnownRecords, whereContains } from '../records/reference-picker';
import { titleOfSheet, useSheets } from '../sheets/use-sheets';
import { containsWords } from '../shell/sort-rows';
import { ProblemState } from '../shell/states';
import { TextField } from '../shell/text-field';

interface Found {
  readonly to: string;
  readonly title: string;
  /** Distinguishes it from others with the same title. */
  readonly beside: string;
  readonly kind: string;
  /** Whether it is a document outside of the portal's pages. */
  readonly isElsewhere?: boolean;
}

/** The indexes of parts of texts serve three letters and more. */
const LEAST_LETTERS = 3;
const MOST_OF_A_KIND = 6;

export function SearchPalette({ onClose }: { onClose(): void }) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text.trim(), 250);
  const [place, setPlace] = useState(0);
  const records = useFoundRecords(asked);
  const found = [...useFoundPages(text.trim()), ...records.found, ...useFoundInManual(asked)];
  const chosen = Math.min(place, found.length - 1);
  const open = ({ to, isElsewhere }: Found) => {
    onClose();
    if (isElsewhere) location.assign(to);
    else void navigate({ to });
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const one = found[chosen];
    if (step !== undefined) setPlace(Math.max(0, Math.min(found.length - 1, chosen + step)));
    else if (event.key === 'Enter' && one) open(one);
    else return;
    event.preventDefault();
  };
  const isSearching = text.trim().length >= LEAST_LETTERS && (text.trim() !== asked || records.isFetching);
  return (
    <Modal opened onClose={onClose} title={t('Search everything')} size="lg">
      <TextField
        type="search"
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${chosen}` : undefined}
        aria-label={t('Search everything')}
        placeholder={t('Name, number, phone, receipt, report or page')}
        data-autofocus
        value={text}
        maxLength={100}
        onChange={(text) => {
          setText(text);
          setPlace(0);
        }}
        onKeyDown={press}
      />
      {records.error && <ProblemState problem={records.error} />}
      <Text c="dimmed" mt="xs" role="status">
        {isSearching && t('Searching …')}
        {!isSearching && text.trim() !== '' && found.length === 0 && t('Nothing found')}
      </Text>
      {found.length > 0 && (
        <div id="found" role="listbox" aria-label={t('Search everything')} className="found-list">
          {found.map((one, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field.
            <div
              key={`${one.kind} ${one.to}`}
              id={`found-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className="found-item"
              onClick={() => open(one)}
            >
              <span>
                <strong>{one.title}</strong> <span className="dimmed">{one.beside}</span>
              </span>
              <span className="dimmed">{one.kind}</span>
            </div>
          ))}
        </div>
      )}
    </Modal>
  );
}

/** The titles that contain the text; they need no request. */
function useFoundPages(text: string): readonly Found[] {
  const viewer = useViewer();
  const sheets = useSheets();
  if (text === '') return [];
  const pageAt = (to: string, title: string, kind = t('Page')) => ({ to, title, beside: '', kind });
  const pages = PORTAL_PAGES.filter(({ menu, isFor }) => menu && isFor(viewer));
  const readable = viewer.collections.filter(({ canRead }) => canRead);
  const all: readonly Found[] = [
    ...pages.map(({ path, label }) => ({ ...pageAt(path, t(label)), isElsewhere: path === '/explore' })),
    ...sheets.map((sheet) => pageAt(`/portal/sheets/${sheet.name}`, titleOfSheet(sheet).title)),
    ...viewer.reports.map(({ name, title }) => pageAt(`/portal/reports/${name}`, title, t('Report'))),
    ...readable.map(({ name, title }) => pageAt(`/portal/records/${name}`, title, t('Records'))),
  ];
  return all.filter(({ title }) => containsWords(title, text)).slice(0, MOST_OF_A_KIND);
}

const COLLECTIONS = ['registration', 'pltf_user', 'fee_receipt'] as const;

function useFoundRecords(text: string) {
  const titleOf = useTitleOf();
  const knownOf = useKnownRecords();
  const asked = COLLECTIONS.map((name) => ({ name, ...knownOf(name) }));
  const [registration, pltfUser, feeReceipt] = asked.map(({ searched, shown }) => ({
    has: searched.length > 0,
    where: whereContains(searched, text),
    fields: [...new Set([...searched, ...shown])],
  }));
  const { data, error, isFetching } = useOperation(
    PortalSearch,
    {
      ...{ registration: registration?.where, registrationFields: registration?.fields ?? [] },
      ...{ pltfUser: pltfUser?.where, pltfUserFields: pltfUser?.fields ?? [] },
      ...{ feeReceipt: feeReceipt?.where, feeReceiptFields: feeReceipt?.fields ?? [] },
      hasRegistration: registration?.has === true,
      hasPltfUser: pltfUser?.has === true,
      hasFeeReceipt: feeReceipt?.has === true,
    },
    { isEnabled: text.length >= LEAST_LETTERS },
  );
  const answers: PortalSearchQuery | undefined = text.length >= LEAST_LETTERS ? data : undefined;
  const found = asked.flatMap(({ name, shown }) =>
    (answers?.[name]?.nodes ?? []).map(({ id, data: fields }): Found => {
      const values = fields as Readonly<Record<string, unknown>>;
      return {
        to: `/portal/records/${name}/${encodeURIComponent(id)}`,
        title: String(values.name ?? values.receipt_no ?? id),
        beside: describeKnown(shown, values),
        kind: titleOf(name),
      };
    }),
  );
  return { found, error, isFetching };
}

function useFoundInManual(text: string): readonly Found[] {
  const { data } = useQuery({
    queryKey: ['manual index'],
    queryFn: loadManualIndex,
    enabled: text.length >= LEAST_LETTERS,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data || text.length < LEAST_LETTERS) return [];
  return data
    .search(text)
    .slice(0, MOST_OF_A_KIND)
    .map(({ id, title, page }) => ({
      ...{ to: String(id), title: String(title), beside: page === title ? '' : String(page) },
      ...{ kind: t('Manual'), isElsewhere: true },
    }));
}

/** The first page of the manual names the index, whose name changes with the version. */
async function loadManualIndex(): Promise<MiniSearch<SearchedSection> | null> {
  const page = await (await fetch('/manual')).text();
  const address = page.split(/["'\s]/).find((text) => text.includes('search') && text.endsWith('.json'));
  if (address === undefined) return null;
  const index = await (await fetch(new URL(address, `${location.origin}/manual/`))).text();
  return MiniSearch.loadJSON<SearchedSection>(index, SEARCH_OPTIONS);
}
