/** Renders Markdown as HTML: headings with anchors, and links to the pages of the manual. */
import path from 'node:path';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';

interface Section {
  /** 1: the title of the document. */
  readonly level: number;
  readonly title: string;
  /** The anchor of the heading, as GitHub makes it. */
  readonly anchor: string;
  /** The text below it, up to the next heading, without markup. */
  readonly text: string;
}

export interface RenderedDocument {
  readonly html: string;
  readonly sections: readonly Section[];
}

/**
 * Finds the target of a link in the manual. If `undefined`, the manual does not have it, and only the words
 * are shown.
 *
 * @param target from the root of the package, e.g. `docs/rest.md`
 */
export type FindAddress = (target: string) => string | undefined;

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];

export function renderDocument(
  markdown: string,
  { source, findAddress }: { readonly source: string; readonly findAddress: FindAddress },
): RenderedDocument {
  const parser = new MarkdownIt({ html: false });
  const tokens = parser.parse(markdown, {});
  const sections = readSections(tokens);
  for (const [index, token] of tokens.entries()) {
    // A heading without text becomes a cell.
    if (/^th_/.test(token.type) && tokens.slice(index - 1, index + 2).some(isEmptyText)) token.tag = 'td';
    aimLinks(token, { source, findAddress });
    alignByClass(token);
  }
  parser.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
  parser.renderer.rules.table_close = () => '</table></div>';
  return { html: parser.renderer.render(tokens, parser.options, {}), sections };
}

function isEmptyText({ type, content }: Token): boolean {
  return type === 'inline' && content === '';
}

/** Gives each heading its anchor, and returns the text below each. */
function readSections(tokens: readonly Token[]): Section[] {
  const slugger = new GithubSlugger();
  const sections: (Omit<Section, 'text'> & { readonly texts: string[] })[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = plainText(tokens[index + 1]);
      const anchor = slugger.slug(title);
      token.attrSet('id', anchor);
      sections.push({ level: Number(token.tag.slice(1)), title, anchor, texts: [] });
    } else if (
      tokens[index - 1]?.type !== 'heading_open' &&
      (token.type === 'inline' || token.type === 'fence')
    ) {
      sections.at(-1)?.texts.push(token.type === 'fence' ? token.content : plainText(token));
    }
  }
  return sections.map(({ texts, ...section }) => ({ ...section, text: texts.join('\n') }));
}

function plainText(token: Token | undefined): string {
  const parts = (token?.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content));
  return parts.join('');
}

function aimLinks(
  token: Token,
  options: { readonly source: string; readonly findAddress: FindAddress },
): void {
  const open: (string | undefined)[] = [];
  for (const child of token.children ?? []) {
    if (child.type === 'image')
      child.attrSet('src', addressOf(String(child.attrGet('src') ?? ''), options) ?? '');
    if (child.type === 'link_open') {
      const address = addressOf(String(child.attrGet('href') ?? ''), options);
      open.push(address);
      if (address === undefined) child.hidden = true;
      else child.attrSet('href', address);
    }
    if (child.type === 'link_close' && open.pop() === undefined) child.hidden = true;
    // The renderer of a pair of tokens ignores whether it is hidden.
    if (child.hidden) Object.assign(child, { type: 'text', content: '', nesting: 0 });
  }
}

/** The pages allow no inline style, which is how the parser aligns a column. */
function alignByClass(token: Token): void {
  const side = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? ''))?.[1];
  if (side === undefined) return;
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
  token.attrSet('class', `to-${side}`);
}

function addressOf(
  link: string,
  { source, findAddress }: { readonly source: string; readonly findAddress: FindAddress },
): string | undefined {
  if (/^[a-z]+:/.test(link) || link.startsWith('#')) return link;
  const [target = '', anchor] = link.split('#');
  const address = findAddress(path.posix.join(path.posix.dirname(source), target));
  return address === undefined || anchor === undefined ? address : `${address}#${anchor}`;
}
