/**
 * A filled document. It has a shadow root, so that its style and that of the portal do not meet. Templates
 * escape all texts, and the content security policy lets no script of a document run.
 */
import { useRouter } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { createPrintEngine } from '../../../base/text/print-filters.js';
import { useFileDownload } from '../files/use-file-download';
import { useGateway, useViewer } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { useDeclaredCollection } from '../records/use-declared-collection';
import { LoadingState, ProblemState } from '../shell/states';
import type { PrintLayout } from './print-menu';
import { usePrintFilters } from './use-print-filters';
import { type PrintedPage, usePrintLayout, usePrintPages } from './use-print-pages';

export interface PrintDocumentProps {
  readonly layout: PrintLayout;
  readonly collection: string;
  readonly pages: readonly PrintedPage[];
}

export function PrintDocument({ layout, collection, pages }: PrintDocumentProps) {
  const t = useTexts();
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
  const { mutate: download } = useFileDownload();
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
      else download({ id: file, name });
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
