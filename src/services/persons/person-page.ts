/** The overview page of the archive of a person: plain HTML that loads nothing from the network. */
import { isJsonObject, type JsonValue, parseExactJson, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';

export interface PersonPage {
  readonly domain: string;
  readonly collection: Collection;
  readonly at: Date;
  /** The record of the person. */
  readonly json: string;
  readonly parts: readonly { readonly path: string; readonly title: string; readonly lines: number }[];
  /** The titles of collections that the caller may not read. */
  readonly hidden: readonly string[];
}

export function printPersonPage({ domain, collection, at, json, parts, hidden }: PersonPage): string {
  const record = parseExactJson(json);
  const values = isJsonObject(record) ? Object.entries(record) : [];
  const rows = values.map(([name, value]) => {
    const meaning = collection.fieldsByName.get(name)?.description ?? '';
    return `<tr><th>${escaped(name)}</th><td>${escaped(shown(value))}</td><td>${escaped(meaning)}</td></tr>`;
  });
  const listed = parts.map(({ path, title, lines }) => {
    const link = path.split('/').map(encodeURIComponent).join('/');
    const name = `<a href="${link}">${escaped(path)}</a>`;
    return `<tr><td>${name}</td><td>${escaped(title)}</td><td>${lines}</td></tr>`;
  });
  const left =
    hidden.length === 0 ? '' : `<p>Not in here, for want of a right: ${escaped(hidden.join(', '))}.</p>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Data of a person</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #ccc; padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
</style>
<h1>What ${escaped(domain)} keeps of a person</h1>
<p>Written on ${at.toISOString()}, from ${escaped(collection.title)}.</p>
<h2>The record</h2>
<table>${rows.join('\n')}</table>
<h2>What else there is</h2>
<p>Each file has one line a record, message or change, as JSON.</p>
<table><tr><th>file</th><th>what</th><th>lines</th></tr>
${listed.join('\n')}</table>
${left}
</html>
`;
}

function shown(value: JsonValue): string {
  return typeof value === 'string' ? value : printExactJson(value);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
