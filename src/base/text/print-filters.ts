/**
 * The template language of printed documents: Liquid (liquidjs), which needs no `eval`. All texts are
 * escaped; a template reads no files, and the members that it may read are those that an answer has itself.
 */
import { Liquid } from 'liquidjs';

/** The filters of documents in addition to those of Liquid; docs/prints.md explains each. */
export const PRINT_FILTERS = [
  't',
  'word',
  'field',
  'fields',
  'label',
  'money',
  'in_words',
  'number',
  'percent',
  'day',
  'month',
  'instant',
] as const;

export type PrintFilters = Readonly<
  Record<(typeof PRINT_FILTERS)[number], (value: unknown, ...options: readonly unknown[]) => unknown>
>;

/** Templates that others include, by name. */
export type PrintPartials = Readonly<Record<string, string>>;

/** The limits of every document. */
const LIMITS = { parseLimit: 200_000, renderLimit: 10_000, memoryLimit: 20_000_000 };

export function createPrintEngine(filters: PrintFilters, partials: PrintPartials): Liquid {
  const engine = new Liquid({
    templates: { ...partials },
    outputEscape: 'escape',
    ownPropertyOnly: true,
    strictFilters: true,
    ...LIMITS,
  });
  for (const name of PRINT_FILTERS) engine.registerFilter(name, filters[name]);
  // Liquid's own filter would leave a text unescaped.
  engine.registerFilter('raw', (value: unknown) => value);
  return engine;
}
