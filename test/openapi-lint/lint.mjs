/**
 * Holds an OpenAPI document to the rules of Spectral (oas and OWASP) and of Redocly, but for those that are
 * accepted with a reason: `node lint.mjs schema/openapi.json`. Exit code 1, and a line for each that is not.
 */
import { readFile } from 'node:fs/promises';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import rulesets from '@stoplight/spectral-rulesets';
import { ACCEPTED } from './accepted.mjs';

const [file = 'schema/openapi.json'] = process.argv.slice(2);
const text = await readFile(file, 'utf8');
const notAsked = ACCEPTED.filter(({ places }) => places === undefined).flatMap(({ rules }) => rules);

const found = [...(await runSpectral()), ...(await runRedocly())];
const accepted = ACCEPTED.flatMap(({ rules, places = [] }) =>
  rules.flatMap((rule) => places.map((place) => `${rule} at ${place}`)),
);
const told = new Map(found.map(({ rule, place, message }) => [`${rule} at ${place}`, message]));
const faults = [...told]
  .filter(([key]) => !accepted.includes(key))
  .map(([key, message]) => `${key}: ${message}`);
const seen = new Set([...told.keys()].map((key) => key.replace(/ at .*/, '')));
// A rule is of one of the tools; that it is broken nowhere any more shows by its other places.
const stale = accepted.filter((key) => seen.has(key.replace(/ at .*/, '')) && !told.has(key));
for (const line of faults) console.error(`not kept: ${line}`);
for (const line of stale) console.error(`kept by now, to be taken from accepted.mjs: ${line}`);
if (faults.length + stale.length > 0) process.exit(1);
console.log(`${file}: ${accepted.length} places accepted, ${notAsked.length} rules not asked, nothing else`);

async function runSpectral() {
  const linter = new spectral.Spectral();
  linter.setRuleset({
    extends: [
      [rulesets.oas, 'recommended'],
      [owasp.default ?? owasp, 'all'],
    ],
    rules: Object.fromEntries(notAsked.map((rule) => [rule, 'off'])),
  });
  const results = await linter.run(JSON.parse(text));
  return results.map(({ code, message, path }) => ({ rule: String(code), message, place: placeOf(path) }));
}

async function runRedocly() {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const results = await lintFromString({ source: text, absoluteRef: file, config });
  return results.map(({ ruleId, message, location }) => ({
    rule: ruleId,
    message,
    place: placeOf(
      (location[0]?.pointer ?? '')
        .split('/')
        .slice(1)
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
    ),
  }));
}

/** The path and method, or where else it is. */
function placeOf(steps) {
  const [first, path, method] = steps.map(String);
  return first === 'paths' ? [path, method].filter((step) => step !== undefined).join(' ') : steps.join('/');
}
