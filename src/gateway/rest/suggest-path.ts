/** Suggests a path for one that does not exist. */
import { editDistance } from '../../base/text/did-you-mean.js';

/** No path of ours is longer without its parameters, and comparing costs the square of the length. */
const LONGEST_SEGMENT = 64;
const SHORT_WORD = 3;

/**
 * ` Did you mean /auth?` if each part of the path is a typo or two away from that of a known one, as OpenAPI
 * writes it; otherwise empty. The parts for which the known path has parameters stay as they are.
 */
export function suggestPath(path: string, known: readonly string[]): string {
  const direct = nearest(path, known);
  // The collection is named where reading and creating differ.
  const suggestion = direct ?? nearest(path.replace(/^\/o\//i, '/o/recs/'), known);
  return suggestion === undefined || suggestion === path ? '' : ` Did you mean ${suggestion}?`;
}

function nearest(path: string, known: readonly string[]): string | undefined {
  const parts = path.split('/');
  // What is right in the place of another path is not a typo: /reports/x does not mean /imports/x.
  const isRight = parts.map((part, index) => known.some((one) => one.split('/')[index] === part));
  let best = Number.POSITIVE_INFINITY;
  let suggestion: string | undefined;
  for (const template of known) {
    const names = template.split('/');
    if (names.length !== parts.length || !names.some((name) => /^[^{]/.test(name))) continue;
    const changes = names.map((name, index) => {
      const part = parts[index] ?? '';
      const isOther = isRight[index] === true && part !== name && !name.startsWith('{');
      return isOther ? Number.POSITIVE_INFINITY : changesOf(part, name);
    });
    const sum = changes.reduce((total, one) => total + one, 0);
    if (sum >= best) continue;
    best = sum;
    suggestion = names.map((name, index) => (name.startsWith('{') ? parts[index] : name)).join('/');
  }
  return suggestion;
}

/** Infinite for another word. */
function changesOf(part: string, name: string): number {
  if (name.startsWith('{')) return part === '' ? Number.POSITIVE_INFINITY : 0;
  if (part.length > LONGEST_SEGMENT) return Number.POSITIVE_INFINITY;
  // One word of several.
  if (part.length > SHORT_WORD && name.toLowerCase().split('-').includes(part.toLowerCase())) return 1;
  const changes = editDistance(part.toLowerCase(), name.toLowerCase());
  return changes > name.length / 3 ? Number.POSITIVE_INFINITY : changes;
}
