/**
 * A filled document. It has a shadow root, so that its style and that of the portal do not meet. Templates
 * escape all texts, and the content security policy lets no script of a document run.
 */
import { useLingui } from '@lingui/react';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { createPrintEngine, type PrintFilters } from '../../../base/text/print-filters.js';
import {
  PrintedRecords,
  type PrintedRecordsQueryVariables,
  PrintLayout as ReadLayout,
} from '../../../generated/portal/prints/prints';
import type { PrintLayout } from '../../../school/prints/print-definition.js';
import { downloadOf } from '../files/file-dialog';
import { isLongNumber } from '../gateway/long-number';
import { useDownload, useGateway, useOperation, useViewer } from '../gateway/use-gateway';
import { sessionYearOf, startOfSession } from '../language/days';
import { formats, t, useToday } from '../language/texts';
import { declaredTarget, useIsReadable } from '../records/reference-picker';
import {
  type DeclaredCollection,
  type DeclaredField,
  isReferenceValue,
  sayAllowed,
  sayFieldName,
  useDeclaredCollection,
  valueText,
} from '../records/use-declared-collection';
import { LoadingState, ProblemState } from '../shell/states';

interface PrintDocumentProps {
  readonly layout: PrintLayout;
  readonly collection: string;
  readonly pages: readonly PrintedPage[];
}

export function PrintDocument({ layout, collection, pages }: PrintDocumentProps) {
  const { id, name, userName, mayRecordReceipts } = useViewer();
  const declared = useDeclaredCollection(collection);
  const filters = usePrintFilters(layout, declared.collection);
  const { html, fault } = useMemo(() => {
    const engine = createPrintEngine(filters, layout.partials);
    const template = engine.parse(layout.html);
    const me = { id, name: name ?? userName, mayRecordReceipts };
    const tag = layout.leads ? 'div' : 'article';
    try {
      const filled = pages.map((page) => engine.renderSync(template, { ...page, me, school: layout.school }));
      return { html: filled.map((text) => `<${tag} class="page">${text}</${tag}>`).join('') };
    } catch (error) {
      return { html: '', fault: error as Error };
    }
  }, [filters, layout, pages, id, name, userName, mayRecordReceipts]);
  usePaper(layout.leads ? undefined : layout.paper);
  if (fault) return <ProblemState problem={fault} />;
  return <Paper html={html} style={layout.style} label={layout.leads ? undefined : t('Document')} />;
}

interface PrintOfRecordProps {
  readonly name: string;
  readonly collection: string;
  readonly id: string;
}

/** A document of one record, within another page. */
export function PrintOfRecord({ name, collection, id }: PrintOfRecordProps) {
  const { layout, error } = usePrintLayout(name);
  const where = { _id: { equals: id } };
  const read = usePrintPages(layout, { collection, where, oquery: '', set: {}, chosen: {} });
  const problem = error ?? read.error;
  if (problem) return <ProblemState problem={problem} retry={() => void read.refetch()} />;
  if (!layout || !read.data) return <LoadingState />;
  return <PrintDocument {...{ layout, collection }} pages={read.data.pages} />;
}

/** Sets the size of the paper while the document is shown. */
function usePaper(paper: string | undefined): void {
  useEffect(() => {
    if (paper === undefined) return undefined;
    const rules = new CSSStyleSheet();
    const margin = paper.startsWith('A5') ? '9mm' : '14mm';
    rules.replaceSync(`@page { size: ${paper}; margin: ${margin}; @bottom-right { content: none; } }`);
    document.adoptedStyleSheets.push(rules);
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== rules);
    };
  }, [paper]);
}

interface PaperProps {
  readonly html: string;
  readonly style: string;
  readonly label: string | undefined;
}

function Paper({ html, style, label }: PaperProps) {
  const host = useRef<HTMLElement>(null);
  const gateway = useGateway();
  const router = useRouter();
  const { mutate: download } = useDownload();
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const rules = new CSSStyleSheet();
    rules.replaceSync(style);
    root.adoptedStyleSheets = [rules];
    root.innerHTML = html;
    const urls: string[] = [];
    const stop = new AbortController();
    const load = async (picture: HTMLImageElement, file: string) => {
      const content = await gateway.fetchFile(`/files/${encodeURIComponent(file)}`, { signal: stop.signal });
      if (stop.signal.aborted) return;
      const url = URL.createObjectURL(content);
      urls.push(url);
      picture.src = url;
    };
    for (const picture of root.querySelectorAll<HTMLImageElement>('img[data-file]'))
      load(picture, picture.dataset.file ?? '').catch(() => picture.remove());
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element).closest('a');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const { file, name = '' } = link.dataset;
      const to = link.getAttribute('href') ?? '';
      if (file === undefined && !to.startsWith('/portal/')) return;
      event.preventDefault();
      if (file === undefined) router.history.push(to);
      else download(downloadOf({ id: file, name }));
    };
    root.addEventListener('click', (event) => follow(event as MouseEvent), { signal: stop.signal });
    return () => {
      stop.abort();
      for (const url of urls) URL.revokeObjectURL(url);
    };
  }, [html, style, gateway, router, download]);
  return (
    // Paper that is wider than the screen is scrolled, by the keyboard too.
    <section
      ref={host}
      aria-label={label}
      {...(label !== undefined && { className: 'print-paper', tabIndex: 0 })}
    />
  );
}

type Values = Readonly<Record<string, unknown>>;

/** A field of a record on paper: its name, and its text or the rows within it. */
interface PrintedField {
  readonly name: string;
  readonly text: string;
  readonly rows: readonly (readonly PrintedField[])[];
  /** The page of the record that it refers to, if the viewer may read it. */
  readonly to: string | undefined;
}

function usePrintFilters(layout: PrintLayout, collection: DeclaredCollection | undefined): PrintFilters {
  const { locale } = useLingui().i18n;
  const isReadable = useIsReadable();
  const words = layout.translations?.[locale]?.words ?? {};
  const translate = (text: string) => words[text] ?? text;
  const pageOf = (field: DeclaredField, value: unknown) => {
    const target = declaredTarget(field, value);
    if (!isReferenceValue(value) || !target || !isReadable({ collection: target, field: '_id' }))
      return undefined;
    return `/portal/records/${target}/${encodeURIComponent(value.value)}`;
  };
  const fieldsOf = (fields: readonly DeclaredField[], data: Values): readonly PrintedField[] =>
    fields.flatMap((field): PrintedField[] => {
      const value = data[field.name];
      const list = (Array.isArray(value) ? value : [value]).filter(
        (one): one is Values => typeof one === 'object' && one !== null,
      );
      const isNested = field.fields && list.length > 0 && !list.some(isReferenceValue);
      const rows = isNested ? list.map((one) => fieldsOf(field.fields ?? [], one)) : [];
      const text = isNested ? '' : valueText(value, field, data);
      return text === '' && rows.length === 0
        ? []
        : [{ name: sayFieldName(field.name), text, rows, to: pageOf(field, value) }];
    });
  return {
    t: (value, ...parts) =>
      translate(textOf(value)).replaceAll(/\{(\d)\}/g, (_all, place: string) => textOf(parts[Number(place)])),
    word: (value) => translate(sayAllowed(textOf(value).toLowerCase())),
    field: (value) => sayFieldName(textOf(value)),
    fields: (value) => fieldsOf(collection?.fields ?? [], (value ?? {}) as Values),
    label: (value) => textOf(((value ?? {}) as Values)[collection?.labelField ?? '']) || collection?.title,
    // Adding leaves parts of a paisa, and a zero below zero.
    money: (value) => ifThere(value, (number) => formats.money(Math.round(number * 100) / 100 + 0)),
    in_words: (value, language = locale) => sumInWords(Number(textOf(value)), String(language)),
    number: (value) => ifThere(value, formats.number),
    percent: (value) => ifThere(value, formats.percent),
    day: (value) => formats.day(textOf(value)),
    month: (value) => formats.month(textOf(value).slice(0, 7)),
    instant: (value) => formats.instant(textOf(value)),
  };
}

function textOf(value: unknown): string {
  if (isLongNumber(value)) return value.$number;
  return value === null || value === undefined ? '' : String(value);
}

function ifThere(value: unknown, print: (number: number) => string): string {
  const text = textOf(value);
  return text === '' ? '' : print(Number(text));
}

/** Sums in words, as receipts and cheques in India have them. */
const UNITS = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
  'seventeen eighteen nineteen'
).split(' ');
const TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
/** Hindi has a word of its own for each number below a hundred. */
const HINDI = (
  'शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह ' +
  'उन्नीस बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस ' +
  'तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस चालीस इकतालीस बयालीस तैंतालीस चौवालीस ' +
  'पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन ' +
  'सत्तावन अट्ठावन उनसठ साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर ' +
  'इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी अस्सी इक्यासी ' +
  'बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे ' +
  'चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे'
).split(' ');

interface NumberWords {
  /** Names of 10,000,000, 100,000, 1,000 and 100. */
  readonly sizes: readonly string[];
  /** A number below a hundred. */
  small(number: number): string;
  /** A whole sum. */
  sum(rupees: string, paise: string): string;
}

const WORDS: Readonly<Record<string, NumberWords>> = {
  en: {
    sizes: ['crore', 'lakh', 'thousand', 'hundred'],
    small(number) {
      if (number < 20) return UNITS[number] ?? '';
      const unit = number % 10;
      return `${TENS[Math.floor(number / 10)]}${unit > 0 ? `-${UNITS[unit]}` : ''}`;
    },
    sum: (rupees, paise) => `Rupees ${rupees}${paise && ` and ${paise} paise`} only`,
  },
  hi: {
    sizes: ['करोड़', 'लाख', 'हज़ार', 'सौ'],
    small: (number) => HINDI[number] ?? '',
    sum: (rupees, paise) => `रुपये ${rupees}${paise && ` और ${paise} पैसे`} मात्र`,
  },
};

const SIZES = [10_000_000, 100_000, 1_000, 100];

/** A sum with lakh and crore: `Rupees one lakh five and fifty paise only`. */
function sumInWords(amount: number, language: string): string {
  const words = WORDS[language] ?? WORDS.en;
  if (!words || !Number.isFinite(amount) || amount < 0) return '';
  const paise = Math.round(amount * 100);
  const part = paise % 100;
  return words.sum(inWords(Math.floor(paise / 100), words), part > 0 ? inWords(part, words) : '');
}

function inWords(number: number, words: NumberWords): string {
  const place = SIZES.findIndex((size) => number >= size);
  const size = SIZES[place];
  if (size === undefined) return words.small(number);
  const rest = number % size;
  const most = inWords(Math.floor(number / size), words);
  return `${most} ${words.sizes[place]}${rest > 0 ? ` ${inWords(rest, words)}` : ''}`;
}

/** More pages are printed in parts. */
const MOST_PAGES = 200;
/** Queries that run beside each other. */
const AT_ONCE = 4;

/** The values of a template for a page. */
export type PrintedPage = Values;

export interface PrintSubject {
  readonly collection: string;
  readonly where: Values;
  readonly oquery: string;
  readonly orderBy?: PrintedRecordsQueryVariables['orderBy'];
  /** The values of `by`, if a set is printed. */
  readonly set: Values;
  readonly chosen: Values;
}

export function usePrintLayout(name: string) {
  const { data, error } = useOperation(ReadLayout, { name });
  return { layout: data?.print as PrintLayout | undefined, error };
}

/** `undefined` stands for a subject that is not chosen yet. */
export function usePrintPages(layout: PrintLayout | undefined, subject: PrintSubject | undefined) {
  const gateway = useGateway();
  const today = useToday();
  const { sessionFirstMonth } = useViewer();
  return useQuery({
    queryKey: ['print', layout?.name, subject],
    enabled: layout !== undefined && subject !== undefined,
    queryFn: async ({ signal }): Promise<{ pages: readonly PrintedPage[]; hasMore: boolean }> => {
      if (!layout || !subject) throw new Error('There is nothing to print');
      const session = sessionYearOf(today, sessionFirstMonth);
      const sessionStart = startOfSession(today, sessionFirstMonth);
      const { collection, where, oquery, orderBy, set, chosen } = subject;
      const common = { ...chosen, collection, today, sessionStart };
      const names = new Set([...layout.query.matchAll(/\$(\w+)\s*:/g)].map(([, name]) => name));
      const run = async (variables: Values): Promise<PrintedPage> => {
        const sent = Object.fromEntries(Object.entries(variables).filter(([name]) => names.has(name)));
        const options = { signal, leavesOutForbidden: layout.leads === true };
        const answer = await gateway.executeText<Values>(layout.query, sent, options);
        return { ...answer, chosen, today, set, session };
      };
      if (layout.pages === 'all')
        return { pages: [await run({ ...common, ...set, where, oquery })], hasMore: false };
      const { copy = {}, label } = layout;
      const asked = {
        collection,
        where,
        oquery,
        orderBy,
        project: [label, ...Object.values(copy)].filter((name) => name !== '_id'),
      };
      const { records } = await gateway.execute(PrintedRecords, { ...asked, first: MOST_PAGES }, signal);
      const pages: PrintedPage[] = [];
      for (let start = 0; start < records.nodes.length; start += AT_ONCE) {
        const some = records.nodes.slice(start, start + AT_ONCE).map(({ id, data }) => {
          const copied = Object.entries(copy).map(([to, from]) => [
            to,
            from === '_id' ? id : (data as Values)[from],
          ]);
          return run({ ...common, ...Object.fromEntries(copied), id });
        });
        pages.push(...(await Promise.all(some)));
      }
      return { pages, hasMore: records.pageInfo.hasNextPage };
    },
  });
}
