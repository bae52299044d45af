/** What the trial of the examples needs is there; it runs them itself, which takes minutes. */
import { describe, expect, it } from '@jest/globals';
import { readExamples } from './examples.js';
import { listDocuments } from './project-files.js';

const RUN = ['sh', 'graphql', 'js', 'json', 'text'];

describe.each(listDocuments())('the examples of %s', (file) => {
  it('are of a language that is run, or say why they are not', () => {
    const examples = readExamples(file).filter(({ notRunBecause }) => notRunBecause === undefined);
    expect(examples.filter(({ language }) => !RUN.includes(language))).toEqual([]);
  });

  it('take arguments only where a command gives them', () => {
    const examples = readExamples(file).filter(({ notRunBecause }) => notRunBecause === undefined);
    const commands = examples.flatMap(({ language, code }) => (language === 'sh' ? code : []));
    const scripts = examples.filter(({ language }) => language === 'js').map(({ code }) => code);
    const lone = scripts.filter((code) => {
      const [, name] = /^\/\/ ([\w-]+\.js)\n/.exec(code) ?? [];
      if (name === undefined) return /^export default (?:async )?\([^)]/m.test(code);
      return !commands.some((command) => command.includes(name));
    });
    expect(lone).toEqual([]);
  });
});
