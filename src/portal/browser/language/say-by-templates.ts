export type Say = (text: string) => string | undefined;

interface Template {
  readonly pattern: RegExp;
  readonly said: string;
}

interface SaidLanguage {
  /** Translates the name of a field. */
  readonly nameOf: (field: string) => string;
  /** The full stop of the language. */
  readonly fullStop: string;
}

/** The placeholders whose values are texts with templates of their own. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['action', 'bounds', 'expected', 'found', 'roles', 'verb', 'what', 'when'],
]);
/** The placeholders whose values must have templates; otherwise the template does not apply. */
const NEEDED = ['what', 'bounds'];

/**
 * Returns a function that translates messages of the gateway by templates: `{ '{field} is taken': '{field}
 * पहले से है' }` translates "phone is taken" to "फ़ोन पहले से है". Of the templates that match, the one with the
 * most text of its own applies; those that begin with `{what}` come first, because they add to another text.
 * Values stay unchanged, except names of fields, which `nameOf` translates, and texts within the text, or
 * lists of them. A sentence also matches a template without its full stop. The result is `undefined` for a text without a
 * template, and for a text whose `{what}` has none.
 */
export function sayByTemplates(
  texts: Readonly<Record<string, string>>,
  { nameOf, fullStop }: SaidLanguage,
): Say {
  const templates = Object.entries(texts)
    .sort(([one], [other]) => rankOf(other) - rankOf(one))
    .map(([text, said]): Template => ({ pattern: patternOf(text), said }));
  return say;

  function say(text: string): string | undefined {
    const said = sayByTemplate(text);
    if (said !== undefined || !text.endsWith('.')) return said;
    const withoutStop = sayByTemplate(text.slice(0, -1));
    return withoutStop === undefined ? undefined : withoutStop + fullStop;
  }

  function sayByTemplate(text: string): string | undefined {
    for (const { pattern, said } of templates) {
      const found = pattern.exec(text);
      if (!found) continue;
      const { groups = {} } = found;
      if (NEEDED.some((name) => groups[name] !== undefined && sayText(groups[name]) === undefined)) continue;
      return said.replaceAll(/\{(\w+)\}/g, (_, name: string) => sayValue(name, found.groups?.[name] ?? ''));
    }
    return undefined;
  }

  function sayValue(name: string, value: string): string {
    // A value may follow the name.
    if (name === 'field') return value.replace(/^[\w.]+/, (field) => nameOf(field));
    if (name === 'fields') return value.split(' and ').map(nameOf).join(', ');
    return TEXTS.has(name) ? (sayText(value) ?? value) : value;
  }

  /** A list is translated part by part, because a template for one part would match all of it. */
  function sayText(value: string): string | undefined {
    const parts = value.split(', ').map(say);
    return parts.includes(undefined) ? say(value) : parts.join(', ');
  }
}

function rankOf(template: string): number {
  const length = template.replaceAll(/\{\w+\}/g, '').length;
  return template.startsWith('{what}') ? 1_000 + length : length;
}

/** The pattern that matches the texts of the template `{field} is taken`. */
function patternOf(template: string): RegExp {
  const escaped = template.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll(/\\\{(\w+)\\\}/g, '(?<$1>.+?)')}$`, 's');
}
