/**
 * Renders Mustache templates: `{{name}}` is a value, `{{#list}}…{{/list}}` is repeated for each element, and
 * `{{^name}}…{{/name}}` is rendered if there is no value. Unlike in Mustache, a missing value is refused
 * unless its placeholder has a default (`{{name|Parent}}`): nobody wants to send "Dear ,".
 *
 * Templates and values come from callers. Therefore a name finds only own members of the values, nothing
 * found is ever called, and the result is limited in size and work, because nested sections over one list
 * multiply. The libraries for this syntax search prototypes, call functions or compile templates to code, and
 * none limits the work; hence this engine. Nor does it use their parsers: that of mustache.js takes quadratic
 * time for blanks in a tag (docs/contract/decisions.md).
 */
import { invalidAt, ServiceError } from '../../base/errors.js';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
} from '../../base/json/json.js';
import { isList } from '../../base/model/compare-json.js';
import { didYouMean } from '../../base/text/did-you-mean.js';

export interface TemplateFormat {
  /** Escapes a value in `{{…}}`; `{{{…}}}` writes it unchanged. */
  readonly escape: (value: string) => string;
  readonly maxBytes: number;
  /** Takes an empty text for a value. Default: it is missing, as null is. */
  readonly mayBeEmpty?: boolean;
}

/** Escapes nothing, for texts without markup. */
export const asItIs = (value: string): string => value;

/** Escapes for HTML, in element content and in quoted attributes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"'`=/]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * @throws INVALID_VALUE with line and column for a malformed template, for a missing value, and for a value
 *   that is no text; LIMIT_EXCEEDED for a result that is too long or takes too much work
 */
export function renderTemplate(template: string, values: JsonObject, format: TemplateFormat): string {
  const rendering = new Rendering(format);
  rendering.render(parseTemplate(template), { value: values, outer: undefined });
  const { missing } = rendering;
  if (missing.size > 0) throw withoutValues([...missing], values);
  return rendering.text();
}

/** @throws INVALID_VALUE for a text with a placeholder, which came without values to fill it in */
export function assertNoPlaceholder(parameter: string, text: string): void {
  const [placeholder] = /\{\{[^{}\n]{1,100}\}\}/.exec(text) ?? [];
  if (placeholder === undefined) return;
  const detail =
    `${parameter} has the placeholder ${placeholder}, and there is no data to fill it in. Send data; to ` +
    'send the braces themselves, begin with {{=<% %>=}} and send data as {}.';
  throw invalidAt(detail, { parameter, expected: 'data' });
}

/** A hint for each value that no placeholder of the templates uses. */
export function hintsAtUnused(templates: readonly string[], values: JsonObject): readonly string[] {
  const used = new Set(templates.flatMap((template) => namesIn(parseTemplate(template))));
  return Object.keys(values)
    .filter((name) => !used.has(name))
    .slice(0, MOST_NAMES)
    .map((name) => `No placeholder of the template uses "${name}".${didYouMean(name, used)}`);
}

/** A message with more names than these would not help. */
const MOST_NAMES = 10;

function withoutValues(names: readonly string[], values: JsonObject): ServiceError {
  const expected = 'a value, or a default in the template such as {{name|Parent}}';
  const placeholders = names.map((name) => `{{${name}}}`).join(', ');
  const [only = ''] = names;
  const known = Object.keys(values).filter((name) => name !== only);
  const suggestion = names.length === 1 ? didYouMean(only, known) : '';
  return new ServiceError(
    'INVALID_VALUE',
    `The template has no value for ${placeholders}. Send ${expected}.${suggestion}`,
    { errors: names.map((name) => ({ parameter: `data.${name}`, detail: 'no value', expected })) },
  );
}

/**
 * The most parts written, names looked up, and elements repeated or printed: far more than any letter needs.
 */
const MAX_STEPS = 500_000;
/** The deepest nesting of lists in a printed list. */
const MAX_PRINTED_DEPTH = 32;

/** The values in which names are looked up: those of the section, then those of the surrounding sections. */
interface Context {
  readonly value: JsonValue;
  readonly outer: Context | undefined;
}

class Rendering {
  /** The first placeholders that have neither value nor default. */
  readonly missing = new Set<string>();
  readonly #format: TemplateFormat;
  readonly #written: string[] = [];
  #bytes = 0;
  #steps = 0;

  constructor(format: TemplateFormat) {
    this.#format = format;
  }

  text(): string {
    return this.#written.join('');
  }

  render(parts: readonly TemplatePart[], context: Context): void {
    for (const part of parts) {
      this.#step(1);
      switch (part.kind) {
        case 'text':
          this.#write(part.text);
          break;
        case 'value':
          this.#renderValue(part, context);
          break;
        case 'section':
          this.#renderSection(part, context);
          break;
      }
    }
  }

  #renderValue(part: ValuePart, context: Context): void {
    const value = this.#find(part.path, context);
    if (value === undefined || value === null || (isEmpty(value) && this.#format.mayBeEmpty !== true)) {
      if (part.byDefault !== undefined) this.#write(part.byDefault);
      else if (this.missing.size < MOST_NAMES) this.missing.add(nameOf(part.path));
      return;
    }
    const text = this.#print(value, part.path, 0);
    this.#write(part.form === 'escaped' ? this.#format.escape(text) : text);
  }

  #renderSection(section: SectionPart, context: Context): void {
    const value = this.#find(section.path, context);
    if (section.when === 'absent') {
      if (!isPresent(value)) this.render(section.parts, context);
      return;
    }
    if (!isPresent(value)) return;
    if (isList(value)) {
      this.#step(value.length);
      for (const element of value) this.render(section.parts, { value: element, outer: context });
      return;
    }
    this.render(section.parts, value === true ? context : { value, outer: context });
  }

  /** Returns `undefined` if neither the section nor a surrounding one has the name. */
  #find(path: TemplatePath, context: Context): JsonValue | undefined {
    if (path.length === 0) return context.value;
    for (let at: Context | undefined = context; at !== undefined; at = at.outer) {
      this.#step(path.length);
      const found = memberAt(at.value, path);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #print(value: JsonValue | undefined, path: TemplatePath, depth: number): string {
    if (value === undefined || value === null) return '';
    if (isExactNumber(value)) return value.toString();
    if (isList(value) && depth < MAX_PRINTED_DEPTH) {
      this.#step(value.length);
      return value.map((element) => this.#print(element, path, depth + 1)).join(',');
    }
    if (typeof value !== 'object') return String(value);
    const name = nameOf(path);
    throw new ServiceError(
      'INVALID_VALUE',
      `the template cannot be filled in: {{${name}}} is an object; name one of its members, or open ` +
        `a section {{#${name}}}`,
    );
  }

  #write(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#format.maxBytes) throw tooMuch(`more than ${this.#format.maxBytes} bytes`);
    this.#written.push(text);
  }

  #step(count: number): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw tooMuch(`more than ${MAX_STEPS} steps`);
  }
}

function tooMuch(what: string): ServiceError {
  return new ServiceError('LIMIT_EXCEEDED', `the template makes ${what} of these values`);
}

/**
 * The value at a path. Only own members are found: those of objects, the elements of lists, and the length of
 * lists and texts.
 */
function memberAt(value: JsonValue, path: TemplatePath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (at, name) => (at === undefined ? at : stepInto(at, name)),
    value,
  );
}

function stepInto(value: JsonValue, name: string): JsonValue | undefined {
  if (isExactNumber(value)) return undefined;
  if (typeof value === 'string' || isList(value)) {
    if (name === 'length') return value.length;
    return isList(value) && /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
  }
  return isJsonObject(value) ? memberOf(value, name) : undefined;
}

/** Whether a section is rendered: for every value but null, false, zero, an empty text and an empty list. */
function isPresent(value: JsonValue | undefined): value is JsonValue {
  if (value === undefined) return false;
  if (isExactNumber(value)) return Number(value.toString()) !== 0;
  return isList(value) ? value.length > 0 : Boolean(value);
}

/** A blank text, or a list of nothing. */
function isEmpty(value: JsonValue): boolean {
  return isList(value) ? value.length === 0 : typeof value === 'string' && value.trim() === '';
}

function nameOf(path: TemplatePath): string {
  return path.join('.').slice(0, 100) || '.';
}

type TemplatePart = TextPart | ValuePart | SectionPart;

interface TextPart {
  readonly kind: 'text';
  text: string;
}

interface ValuePart {
  readonly kind: 'value';
  readonly path: TemplatePath;
  readonly form: 'escaped' | 'asItIs';
  /** Written as it is in place of a missing value. */
  readonly byDefault: string | undefined;
}

interface SectionPart {
  readonly kind: 'section';
  readonly name: string;
  /** Where its tag is. */
  readonly at: number;
  readonly path: TemplatePath;
  readonly when: 'present' | 'absent';
  readonly parts: TemplatePart[];
}

/** Names of members, one inside the other; none stands for the value of the section around it (`{{.}}`). */
type TemplatePath = readonly string[];

const MAX_DEPTH = 32;
const MAX_PATH_NAMES = 32;

/**
 * The parts of a Mustache template. There are no partials: a template stands alone.
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
 * @throws INVALID_VALUE saying what is wrong, with its line and column
 * @see https://mustache.github.io/mustache.5.html
 */
function parseTemplate(template: string): readonly TemplatePart[] {
  return new TemplateParser(template).parse();
}

/** The names at which the paths of a template begin. */
function namesIn(parts: readonly TemplatePart[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind === 'text') return [];
    return [...part.path.slice(0, 1), ...(part.kind === 'section' ? namesIn(part.parts) : [])];
  });
}

class TemplateParser {
  readonly #template: string;
  readonly #top: TemplatePart[] = [];
  readonly #open: SectionPart[] = [];
  #position = 0;
  #delimiters = { open: '{{', close: '}}' };
  /** The white space of the current line, which is removed if the line contains only tags. */
  #lineSpaces: TextPart[] = [];
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
      const text: TextPart = { kind: 'text', text: line };
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
        throw this.#fault(`"{{>${name}}}" is another template, and a template cannot include one`, start);
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
    const section: SectionPart = { kind: 'section', name, at, when, path: this.#toPath(name, at), parts: [] };
    this.#add(section);
    this.#open.push(section);
  }

  #closeSection(name: string, at: number): void {
    const section = this.#open.pop();
    if (section === undefined) throw this.#fault(`the section "${name}" was not opened`, at);
    if (section.name !== name) throw this.#fault(`the section "${section.name}" is to be closed first`, at);
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
