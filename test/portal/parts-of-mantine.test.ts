import { describe, expect, it } from '@jest/globals';
import { filesByName, withDirectImports } from '../../src/portal/parts-of-mantine.js';

const INDEX = [
  'import { Button } from "./components/Button/Button.mjs";',
  'import { em, rem } from "./core/rem.mjs";',
  'import { RemoveScroll } from "react-remove-scroll";',
  'export { Button, em, rem, RemoveScroll };',
].join('\n');

const PACKAGES = new Map([['@mantine/core', filesByName(INDEX, '/m')]]);

describe('withDirectImports', () => {
  it.each([
    [
      "import { Button, rem } from '@mantine/core';",
      'import { Button } from "/m/components/Button/Button.mjs"; import { rem } from "/m/core/rem.mjs";',
    ],
    [
      "import {\n  type ButtonProps,\n  Button,\n} from '@mantine/core';",
      'import { Button } from "/m/components/Button/Button.mjs"; ' +
        "import { type ButtonProps } from '@mantine/core';",
    ],
    ['import { RemoveScroll } from "@mantine/core";', 'import { RemoveScroll } from "react-remove-scroll";'],
    ["import { useState } from 'react';", "import { useState } from 'react';"],
  ])('%s', (source, expected) => {
    expect(withDirectImports(source, PACKAGES)).toBe(expected);
  });
});
