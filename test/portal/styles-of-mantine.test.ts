import { describe, expect, it } from '@jest/globals';
import { componentsOf, withoutUnused } from '../../src/portal/styles-of-mantine.js';

const STYLES = new Map([
  ['Button', '.button { color: red }'],
  ['Tree', '.tree { color: $& }'],
  ['global', 'body { margin: 0 }'],
]);
const WHOLE = [...STYLES.values()].join('\n');

describe('withoutUnused', () => {
  it('leaves the styles of what is used, in their order, and those that all build on', () => {
    expect(withoutUnused(WHOLE, STYLES, new Set(['Button']))).toBe(
      '.button { color: red }\n\nbody { margin: 0 }',
    );
  });

  it('fails where the package has changed how its styles are put together', () => {
    expect(() => withoutUnused('.button{}', STYLES, new Set())).toThrow('The styles of Button are not in');
  });
});

describe('componentsOf', () => {
  it('names those of which something is left in the bundle', () => {
    const inputs = {
      'node_modules/@mantine/core/esm/components/Button/Button.module.mjs': { bytesInOutput: 20 },
      'node_modules/@mantine/core/esm/components/Tree/Tree.module.mjs': { bytesInOutput: 0 },
      'src/portal/browser/main.tsx': { bytesInOutput: 10 },
    };
    expect([...componentsOf({ outputs: { 'a.js': { inputs } as never } })]).toEqual(['Button']);
  });
});
