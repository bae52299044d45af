/**
 * Texts with places for values: Mustache without partials and functions. `{{name}}` is a value, `{{#list}}…{{/list}}` repeats for each element,
 * `{{^name}}…{{/name}}` is there when there is none. What a template makes is bounded: nested sections over one list would multiply.
 *
 * @see https://mustache.github.io/mustache.5.html
 */
import mustache from 'mustache';
import { ServiceError } from '../errors.js';
import { isExactNumber, type JsonObject, type JsonValue } from '../json.js';

export interface TemplateFormat {
  /** What becomes of a value in `{{…}}`; `{{{…}}}` writes it as it is. */
  readonly escape: (value: string) => string;
  readonly maxBytes: number;
}

/** For texts without a markup of their own. */
export const asItIs = (value: string): string => value;

/** For HTML, in element content and in quoted attributes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"'`=/]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** @throws INVALID_VALUE for a template that cannot be read, with its position; LIMIT_EXCEEDED for a text that gets too long */
export function renderTemplate(template: string, values: JsonObject, format: TemplateFormat): string {
  try {
    // A writer of its own: the library's keeps every template it has seen.
    return new BoundedWriter(format.maxBytes).render(template, toView(values), undefined, {
      escape: (value: unknown) => format.escape(String(value)),
    });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError('INVALID_VALUE', `the template cannot be read: ${reason}`, { cause: error });
  }
}

const MAX_TOKENS = 100_000;

class BoundedWriter extends mustache.Writer {
  readonly #maxBytes: number;
  #bytes = 0;
  #tokens = 0;

  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  override renderTokens(...parameters: Parameters<mustache.Writer['renderTokens']>): string {
    this.#tokens += parameters[0].length + 1;
    if (this.#tokens > MAX_TOKENS) throw tooLong(`more than ${MAX_TOKENS} parts`);
    return super.renderTokens(...parameters);
  }

  override rawValue(token: string[]): string {
    return this.#count(super.rawValue(token));
  }

  override escapedValue(...parameters: Parameters<mustache.Writer['escapedValue']>): string {
    return this.#count(super.escapedValue(...parameters));
  }

  override unescapedValue(...parameters: Parameters<mustache.Writer['unescapedValue']>): string {
    return this.#count(super.unescapedValue(...parameters));
  }

  /** `undefined` for a name that has no value. */
  #count(text: string | undefined): string {
    if (text === undefined) return '';
    this.#bytes += Buffer.byteLength(String(text));
    if (this.#bytes > this.#maxBytes) throw tooLong(`more than ${this.#maxBytes} bytes`);
    return text;
  }
}

function tooLong(what: string): ServiceError {
  return new ServiceError('LIMIT_EXCEEDED', `the template makes ${what} of these values`);
}

/** Without prototypes: the library would find, and call, `constructor`. */
function toView(value: JsonValue): unknown {
  if (isExactNumber(value)) return value.toString();
  if (Array.isArray(value)) return value.map(toView);
  if (typeof value !== 'object' || value === null) return value;
  return Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toView(member)])),
  );
}
