import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import mustache from 'mustache';
import { type JsonObject, parseExactJson } from '../../../src/base/json/json.js';
import {
  asItIs,
  escapeHtml,
  hintsAtUnused,
  renderTemplate,
} from '../../../src/services/messaging/template.js';

const FORMAT = { escape: asItIs, maxBytes: 100_000 };
const MEMBERS_OF_OBJECTS = JSON.stringify(Object.getOwnPropertyNames(Object.prototype).sort());
const MEMBERS_OF_LISTS = JSON.stringify(Object.getOwnPropertyNames(Array.prototype).sort());

function fill(template: string, values: JsonObject): string {
  return renderTemplate(template, values, FORMAT);
}

describe('a template', () => {
  const cases: readonly [what: string, template: string, values: JsonObject, text: string][] = [
    ['writes a value', 'Dear {{name}}', { name: 'Asha' }, 'Dear Asha'],
    [
      'writes a member of a value',
      '{{student.name.first}}',
      { student: { name: { first: 'Asha' } } },
      'Asha',
    ],
    [
      'writes the default of a value that is missing',
      '[{{none|x}} {{a.none| y | z }} {{{a.b.none|<b>}}} {{&none|}} {{empty|e}}{{blank|b}}{{no|n}}{{l|0}}]',
      { a: { b: 1 }, empty: '', blank: ' ', no: null, l: [] },
      '[x y | z <b>  ebn0]',
    ],
    ['writes the value, not the default', '{{a|x}}{{b|x}}{{c|x}}', { a: 0, b: false, c: 'c' }, '0falsec'],
    ['repeats a section', '{{#dues}}{{head}};{{/dues}}', { dues: [{ head: 'A' }, { head: 'B' }] }, 'A;B;'],
    ['names the element', '{{#l}}{{.}},{{/l}}', { l: ['a', 1, true] }, 'a,1,true,'],
    ['looks outwards', '{{#l}}{{x}}{{y}} {{/l}}', { y: 'Y', l: [{ x: 1 }, { x: 2, y: 3 }] }, '1Y 23 '],
    ['opens a section for an object', '{{#a}}{{b}}{{/a}}', { a: { b: 'x' } }, 'x'],
    ['opens a section for a yes', '{{#a}}{{b}}{{/a}}', { a: true, b: 'x' }, 'x'],
    ['leaves a section out', '{{#a}}x{{/a}}{{#b}}y{{/b}}{{#c}}z{{/c}}', { a: [], b: '', c: false }, ''],
    ['inverts a section', '{{^a}}none{{/a}}{{^b}}some{{/b}}', { a: [], b: [1] }, 'none'],
    ['counts a list', '{{#l.length}}{{l.length}} dues{{/l.length}}', { l: [1, 2] }, '2 dues'],
    ['takes one element', '{{l.1.x}}', { l: [{ x: 'a' }, { x: 'b' }] }, 'b'],
    ['leaves comments out', 'a{{! not\nshown }}b', {}, 'ab'],
    [
      'leaves no lines of tags behind',
      'a\n {{#l}}\n- {{.}}\n {{/l}}\nb\n',
      { l: [1, 2] },
      'a\n- 1\n- 2\nb\n',
    ],
    ['changes its delimiters', '{{=<% %>=}}<% a %>{{a}}<%={{ }}=%>{{a}}', { a: 1 }, '1{{a}}1'],
  ];
  for (const [what, template, values, text] of cases) {
    it(what, () => expect(fill(template, values)).toBe(text));
  }

  it.each([
    ['that is missing', 'Dear {{name}}', {}, 'The template has no value for {{name}}.'],
    ['that is null', 'Dear {{name}}', { name: null }, 'The template has no value for {{name}}.'],
    ['that is blank', 'Dear {{name}}', { name: ' ' }, 'The template has no value for {{name}}.'],
    ['that is an empty list', '{{l}}', { l: [] }, 'The template has no value for {{l}}.'],
    ['that is misspelt', 'Dear {{name}}', { nam: 'Asha' }, 'Did you mean "nam"?'],
    ['of an element', '{{#l}}{{x}}{{/l}}', { l: [{ x: 1 }, {}] }, 'The template has no value for {{x}}.'],
    ['that is an element', '{{#l}}{{.}}{{/l}}', { l: [1, null] }, 'The template has no value for {{.}}.'],
    ['of several', '{{a}}{{b.c}}{{{d}}}{{&a}}', { b: {} }, 'has no value for {{a}}, {{b.c}}, {{d}}.'],
  ] as const)('is refused for a value %s', (_, template, values, message) => {
    const refusal = { code: 'INVALID_VALUE', message: expect.stringContaining(message) };
    expect(() => fill(template, values as JsonObject)).toThrow(expect.objectContaining(refusal));
  });

  it('takes an empty text for a value where the format says so', () => {
    const format = { ...FORMAT, mayBeEmpty: true };
    expect(renderTemplate('[{{a}}{{b|x}}]', { a: '', b: null }, format)).toBe('[x]');
  });

  it('points out values that it does not use', () => {
    const templates = ['{{a}} {{#l}}{{b.c}}{{/l}}', '{{name|Parent}}'];
    expect(hintsAtUnused(templates, { a: 1, l: [], b: 2, nam: 'x', other: 1 })).toEqual([
      'No placeholder of the template uses "nam". Did you mean "name"?',
      'No placeholder of the template uses "other".',
    ]);
  });

  it('escapes values for HTML, unless told not to', () => {
    const format = { escape: escapeHtml, maxBytes: 1000 };
    const values = { x: '<b>"&"</b>' };
    expect(renderTemplate('{{x}}|{{{x}}}|{{& x }}', values, format)).toBe(
      '&#60;b&#62;&#34;&#38;&#34;&#60;&#47;b&#62;|<b>"&"</b>|<b>"&"</b>',
    );
  });

  it('writes numbers with the digits they came with, and takes an exact zero for none', () => {
    const values = parseExactJson('{"a": 0.10, "b": 12345678901234567890.5, "zero": 0.00}');
    expect(fill('{{a}} {{b}}{{#zero}} zero{{/zero}}', values as JsonObject)).toBe(
      '0.10 12345678901234567890.5',
    );
  });

  it('means what the reference implementation means, where that is harmless', () => {
    const name = fc.constantFrom('a', 'b', 'l', 'l.length', 'a.b', '.', 'none');
    const piece: fc.Memo<string> = fc.memo((depth) =>
      depth <= 1
        ? fc.oneof(
            fc.constantFrom('x', ' ', '\n', '{', '}', 'y\n  '),
            name.map((n) => `{{ ${n} |}}`),
          )
        : fc.oneof(
            piece(1),
            fc.tuple(piece(depth - 1), piece(depth - 1)).map((two) => two.join('')),
            fc
              .tuple(fc.constantFrom('#', '^'), name, piece(depth - 1))
              .map(([sign, n, inner]) => `{{${sign}${n}}}${inner}{{/${n}}}`),
          ),
    );
    const values = { a: { b: 'B', l: [] }, b: 0, l: ['p', 'q'] };
    const text = 'the values';
    fc.assert(
      fc.property(piece(5), (template) => {
        const ours = outcomeOf(() => fill(template, { ...values, text }));
        const theirs = outcomeOf(() =>
          mustache.render(template.replaceAll(' |}}', ' }}'), { ...values, text }, {}, { escape: String }),
        );
        // Objects have no text: here that is said, there it is "[object Object]".
        fc.pre(ours !== undefined && !theirs?.includes('[object'));
        expect(ours).toBe(theirs);
      }),
      { numRuns: 500, seed: 11 },
    );
  });
});

function outcomeOf(render: () => string): string | undefined {
  try {
    return render();
  } catch {
    return undefined;
  }
}

describe('a template finds own members alone, calls nothing, and leaves the intrinsics as they are', () => {
  afterEach(() => {
    expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype).sort())).toBe(MEMBERS_OF_OBJECTS);
    expect(JSON.stringify(Object.getOwnPropertyNames(Array.prototype).sort())).toBe(MEMBERS_OF_LISTS);
    expect(({} as Record<string, unknown>).length).toBeUndefined();
  });

  const values: JsonObject = { l: [1], o: { x: {} }, t: 'text', n: 5, yes: true, nothing: null };
  const INHERITED = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'valueOf',
    'hasOwnProperty',
    'push',
  ];
  const paths = INHERITED.flatMap((name) => [
    name,
    ...Object.keys(values).map((first) => `${first}.${name}`),
    `o.x.${name}`,
    `o.${name}.x`,
    `l.0.${name}`,
    `l.${name}.${name}`,
    `${name}.${name}.${name}`,
    `l.length.${name}`,
    `o.__proto__.${name}.call`,
  ]);

  it.each(paths)('%s as a value', (path) => {
    expect(fill(`[{{${path}|}}{{{${path}|}}}{{&${path}|}}]`, values)).toBe('[]');
  });

  it.each(paths)('%s as a section, within which names are looked up', (path) => {
    expect(fill(`[{{#${path}}}{{l.push|}}{{push|}}{{.}}{{/${path}}}]`, values)).toBe('[]');
  });

  it.each(paths)('%s as an inverted section', (path) => {
    expect(fill(`[{{^${path}}}{{l.push|}}none{{/${path}}}]`, values)).toBe('[none]');
  });

  it.each(paths)('%s within the sections of its own list', (path) => {
    expect(fill(`{{#l}}{{#o}}[{{${path}|}}]{{/o}}{{/l}}`, values)).toBe('[]');
  });

  it.each(paths)('%s as a partial, which there are none of', (path) => {
    expect(() => fill(`{{>${path}}}`, values)).toThrow('a template cannot include one');
  });

  it('finds such a name where the values have it themselves', () => {
    const own = JSON.parse('{"__proto__": {"x": 1}, "constructor": "C", "o": {"prototype": [2]}}');
    expect(fill('{{__proto__.x}} {{constructor}} {{o.prototype}} {{__proto__.constructor|}}', own)).toBe(
      '1 C 2 ',
    );
  });
});

describe('a template is refused', () => {
  const cases: readonly [what: string, template: string, values: JsonObject, says: RegExp][] = [
    ['with a tag left open', 'Dear\n  {{name', {}, /line 2, column 3: the tag is not closed by \}\}/],
    ['with a triple left open', '{{{name}}', {}, /line 1, column 1: the tag is not closed by \}\}\}/],
    ['with a section left open', 'a {{#b}} c', {}, /line 1, column 3: the section "b" is not closed/],
    ['with a section never opened', '{{/b}}', {}, /line 1, column 1: the section "b" was not opened/],
    [
      'with sections crossed',
      '{{#a}}{{#b}}{{/a}}{{/b}}',
      {},
      /column 13: the section "b" is to be closed first/,
    ],
    ['with no name', '{{}}', {}, /a name is expected/],
    ['with half a path', '{{a..b}}', {}, /a name is expected, not "a..b"/],
    ['with delimiters that are none', '{{=<%=}}', {}, /two delimiters are expected/],
    ['that writes an object', '{{a}}', { a: { b: 1 } }, /\{\{a\}\} is an object; name one of its members/],
  ];
  for (const [what, template, values, says] of cases) {
    it(what, () => {
      expect(() => fill(template, values)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
      expect(() => fill(template, values)).toThrow(says);
    });
  }

  const many = Array.from({ length: 1000 }, (_, index) => index);
  const dear: readonly [what: string, template: string, values: JsonObject][] = [
    ['for sections that multiply', '{{#l}}{{#l}}{{#l}}{{#l}}x{{/l}}{{/l}}{{/l}}{{/l}}', { l: many }],
    [
      'for sections that multiply and write nothing',
      '{{#l}}{{#l}}{{#l}}{{#l}}{{/l}}{{/l}}{{/l}}{{/l}}',
      { l: many },
    ],
    ['for a text that repeats', '{{t}}'.repeat(30_000), { t: 'x'.repeat(1000) }],
    ['for lists that are written over and over', '{{l}}'.repeat(30_000), { l: many }],
    ['for lists of nothing', '{{#l}}{{l}}{{/l}}', { l: many.map(() => null) }],
    ['for paths that find nothing', `{{${'a.'.repeat(30)}b}}`.repeat(20_000), { a: { a: { a: {} } } }],
  ];
  it.each(dear)('%s', (_what, template, values) => {
    expect(() => fill(template, values)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });

  it('for sections within sections without end', () => {
    const depth = 5000;
    const template = '{{#a}}'.repeat(depth) + '{{/a}}'.repeat(depth);
    expect(() => fill(template, { a: true })).toThrow(/at most 32 deep/);
  });

  it('for a list within a list without end', () => {
    const values: JsonObject = JSON.parse(`{"l": ${'['.repeat(3000)}${']'.repeat(3000)}}`);
    expect(() => fill('{{l}}', values)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
  });

  it('soon, however long it is', () => {
    const template = '{{a|}}'.repeat(180_000);
    expect(fill(template, { a: '' })).toBe('');
  });
});
