import { expect, it } from '@jest/globals';
import { findNodeFault } from '../../../src/base/process/node-fault.js';

it.each(['20.19.0', '20.20.2', '22.0.0', '24.21.0', '20.19.0-nightly2025'])(
  'serves by Node.js %s',
  (version) => {
    expect(findNodeFault(version, '>=20.19.0')).toBeUndefined();
  },
);

it.each(['20.18.3', '18.20.8', '16.20.2', '9.99.99'])('says of Node.js %s what is needed', (version) => {
  expect(findNodeFault(version, '>=20.19.0')).toBe(
    `Node.js 20.19.0 or later is needed; this is ${version}, in ${process.execPath}.`,
  );
});
