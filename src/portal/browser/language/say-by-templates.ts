export type Say = (text: string) => string | undefined;

interface Template {
  readonly pattern: RegExp;
  readonly said: string;
}

interface SaidLanguage {
  /** The name of a field in the language. */
  readonly nameOf: (field: string) => string;
  /** What ends a sentence in the language. */
  readonly fullStop: string;
}

/** The placeholders whose values are texts with templates of their own. */
const TEXTS: ReadonlySet<string> = new Set(['action', 'expected', 'found', 'roles', 'verb', 'what']);

/**
 * Returns a function that says texts of the gateway in another language, by templates from one language to
 * the other: `{ '{field} is taken': '{field} पहले से है' }` says "phone is taken" as "फ़ोन पहले से है". The
 * first template that fits is taken, and values stay as they are, but for names of fields, which `nameOf`
 * translates, and for texts within the text. A sentence also fits a template without its full stop. A text
 * without a template is `undefined`, and so is a text whose `{what}` has none.
 */
export function sayByTemplates(
  texts: Readonly<Record<string, string>>,
  { nameOf, fullStop }: SaidLanguage,
): Say {
  const templates = Object.entries(texts).map(
    ([text, said]): Template => ({ pattern: patternOf(text), said }),
  );
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
      const { what } = found.groups ?? {};
      if (what !== undefined && say(what) === undefined) continue;
      return said.replaceAll(/\{(\w+)\}/g, (_, name: string) => sayValue(name, found.groups?.[name] ?? ''));
    }
    return undefined;
  }

  function sayValue(name: string, value: string): string {
    // A value may stand behind the name.
    if (name === 'field') return value.replace(/^[\w.]+/, (field) => nameOf(field));
    if (name === 'fields') return value.split(' and ').map(nameOf).join(', ');
    return TEXTS.has(name) ? (say(value) ?? value) : value;
  }
}

/** `{field} is taken` as the pattern of the texts that it makes. */
function patternOf(template: string): RegExp {
  const escaped = template.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll(/\\\{(\w+)\\\}/g, '(?<$1>.+?)')}$`, 's');
}
