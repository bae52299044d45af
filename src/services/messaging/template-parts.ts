/**
 * What a Mustache template consists of. There are no partials: a template stands alone.
 *
 *   template : ( text | value | section | comment | delimiters )*
 *   value    : "{{" path [ "|" text ] "}}"      escaped for the format of the text; the text is the default
 *            | "{{{" path [ "|" text ] "}}}"    as it is
 *            | "{{&" path [ "|" text ] "}}"     as it is
 *   section  : "{{#" path "}}" template "{{/" path "}}"      once for each element, or when there is a value
 *            | "{{^" path "}}" template "{{/" path "}}"      when there is none
 *   comment  : "{{!" any text "}}"
 *   delimiters : "{{=" open " " close "=}}"                  other signs than {{ and }} from here on
 *   path     : "." | name ( "." name )*
 *
 * A line that holds tags other than values and nothing else leaves no empty line behind.
 *
 * @see https://mustache.github.io/mustache.5.html
 */
import { ServiceError } from '../../base/errors.js';

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'value';
      readonly path: TemplatePath;
      readonly form: 'escaped' | 'asItIs';
      /** Written as it is in place of a missing value. */
      readonly byDefault: string | undefined;
    }
  | {
      readonly kind: 'section';
      readonly path: TemplatePath;
      readonly when: 'present' | 'absent';
      readonly parts: readonly TemplatePart[];
    };

/** Names of members, one inside the other; none stands for the value of the section around it (`{{.}}`). */
export type TemplatePath = readonly string[];

const MAX_DEPTH = 32;
const MAX_PATH_NAMES = 32;

/** @throws INVALID_VALUE saying what is wrong, with its line and column */
export function parseTemplate(template: string): readonly TemplatePart[] {
  return new TemplateParser(template).parse();
}

/** The names at which the paths of a template begin. */
export function namesIn(parts: readonly TemplatePart[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind === 'text') return [];
    return [...part.path.slice(0, 1), ...(part.kind === 'section' ? namesIn(part.parts) : [])];
  });
}

interface Text {
  kind: 'text';
  text: string;
}

interface OpenSection {
  readonly name: string;
  readonly at: number;
  readonly path: TemplatePath;
  readonly when: 'present' | 'absent';
  readonly parts: TemplatePart[];
}

class TemplateParser {
  readonly #template: string;
  readonly #top: TemplatePart[] = [];
  readonly #open: OpenSection[] = [];
  #position = 0;
  #delimiters = { open: '{{', close: '}}' };
  /** The white space of the current line, which is removed if the line contains only tags. */
  #lineSpaces: Text[] = [];
  #lineHasTag = false;
  #lineHasContent = false;

  constructor(template: string) {
    this.#template = template;
  }

  parse(): readonly TemplatePart[] {
    while (this.#position < this.#template.length) {
      const start = this.#template.indexOf(this.#delimiters.open, this.#position);
      this.#takeText(start === -1 ? this.#template.length : start);
      if (start !== -1) this.#takeTag(start);
    }
    this.#endLine();
    const unclosed = this.#open.at(-1);
    if (unclosed !== undefined)
      throw this.#fault(`the section "${unclosed.name}" is not closed`, unclosed.at);
    return this.#top;
  }

  #takeText(end: number): void {
    const between = this.#template.slice(this.#position, end);
    this.#position = end;
    for (const line of between.split(/(?<=\n)/)) {
      if (line === '') continue;
      const text: Text = { kind: 'text', text: line };
      this.#add(text);
      if (/\S/.test(line)) this.#lineHasContent = true;
      else this.#lineSpaces.push(text);
      if (line.endsWith('\n')) this.#endLine();
    }
  }

  #endLine(): void {
    if (this.#lineHasTag && !this.#lineHasContent) {
      for (const space of this.#lineSpaces) space.text = '';
    }
    this.#lineSpaces = [];
    this.#lineHasTag = false;
    this.#lineHasContent = false;
  }

  #takeTag(start: number): void {
    const { open, close } = this.#delimiters;
    const inside = start + open.length;
    const isTriple = this.#template[inside] === '{';
    const closing = isTriple ? `}${close}` : close;
    const end = this.#template.indexOf(closing, inside);
    if (end === -1) throw this.#fault(`the tag is not closed by ${closing}`, start);
    this.#position = end + closing.length;
    this.#lineHasTag = true;
    const content = this.#template.slice(inside, end).trim();
    const sign = /^[#^/>{&=!]/.exec(content)?.[0] ?? '';
    const name = content.slice(sign.length).trim();
    switch (sign) {
      case '!':
        return;
      case '=':
        this.#changeDelimiters(name, start);
        return;
      case '#':
      case '^':
        this.#openSection(name, sign === '#' ? 'present' : 'absent', start);
        return;
      case '/':
        this.#closeSection(name, start);
        return;
      case '>':
        throw this.#fault(`"{{>${name}}}" asks for another template, and a template stands alone`, start);
      default: {
        const [path = '', byDefault] = name.split(/\|(.*)/s);
        this.#lineHasContent = true;
        this.#add({
          kind: 'value',
          path: this.#toPath(path.trim(), start),
          form: sign === '' ? 'escaped' : 'asItIs',
          byDefault: byDefault?.trim(),
        });
      }
    }
  }

  #changeDelimiters(written: string, at: number): void {
    const [open, close, ...more] = written.replace(/=$/, '').trim().split(/\s+/);
    if (!open || !close || more.length > 0) {
      throw this.#fault('two delimiters are expected, e.g. {{=<% %>=}}', at);
    }
    this.#delimiters = { open, close };
  }

  #openSection(name: string, when: 'present' | 'absent', at: number): void {
    if (this.#open.length === MAX_DEPTH) {
      throw this.#fault(`sections lie at most ${MAX_DEPTH} deep, one inside the other`, at);
    }
    this.#open.push({ name, at, when, path: this.#toPath(name, at), parts: [] });
  }

  #closeSection(name: string, at: number): void {
    const section = this.#open.pop();
    if (section === undefined) throw this.#fault(`the section "${name}" was not opened`, at);
    if (section.name !== name) throw this.#fault(`the section "${section.name}" is to be closed first`, at);
    const { path, when, parts } = section;
    this.#add({ kind: 'section', path, when, parts });
  }

  #add(part: TemplatePart): void {
    (this.#open.at(-1)?.parts ?? this.#top).push(part);
  }

  #toPath(name: string, at: number): TemplatePath {
    if (name === '.') return [];
    const names = name.split('.');
    if (names.some((one) => one === '')) throw this.#fault(`a name is expected, not "${name}"`, at);
    if (names.length > MAX_PATH_NAMES) throw this.#fault(`at most ${MAX_PATH_NAMES} names are expected`, at);
    return names;
  }

  #fault(detail: string, at: number): ServiceError {
    const before = this.#template.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    return new ServiceError(
      'INVALID_VALUE',
      `the template cannot be read: line ${line}, column ${column}: ${detail.slice(0, 200)}`,
    );
  }
}
