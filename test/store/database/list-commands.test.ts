import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { listCommands } from '../../../src/store/database/list-commands.js';

describe('listCommands', () => {
  it('ends a command at a semicolon', () => {
    expect(listCommands('select 1; select 2;\n')).toEqual(['select 1', 'select 2']);
  });

  it('leaves out what is no command', () => {
    expect(listCommands('-- nothing; here\n;; /* nor; here */ ;')).toEqual([]);
  });

  it('keeps the comment of a command', () => {
    expect(listCommands('-- one;\nselect 1')).toEqual(['-- one;\nselect 1']);
  });

  it.each([
    [`select 'a;b', 'it''s; so'`],
    [`select e'a\\';b'`],
    [`select "a;b", "c"";d"`],
    [`create function f() returns text language sql as $$ select ';' ; $$`],
    [`do $body$ begin perform '$$;$$'; end $body$`],
    ['select 1 /* one; */ + 2 -- two;\n'],
    [`select '-- none', 1`],
  ])('does not end one within %s', (command) => {
    expect(listCommands(`${command};\nselect 2`)).toEqual([command.trim(), 'select 2']);
  });

  it('loses nothing of the migrations', () => {
    const directory = 'prisma/migrations';
    const scripts = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => readFileSync(`${directory}/${name}/migration.sql`, 'utf8'));
    for (const script of scripts) {
      const words = (text: string) =>
        text
          .replaceAll(/--[^\n]*/g, '')
          .replaceAll(/[\s;]+/g, ' ')
          .trim();
      expect(words(listCommands(script).join(' '))).toBe(words(script));
    }
    expect(scripts.length).toBeGreaterThan(30);
  });
});
