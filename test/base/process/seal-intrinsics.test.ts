import { createContext, runInContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { sealIntrinsics } from '../../../src/base/process/seal-intrinsics.js';

it('lets nothing be added to what every value inherits, and everything be overridden in a value', () => {
  const context = createContext({});
  const evaluate = (code: string): unknown => runInContext(`'use strict';${code}`, context);
  sealIntrinsics(runInContext('globalThis', context));
  expect(() => evaluate('Object.prototype.length = 0')).toThrow('not extensible');
  expect(() => evaluate('({})["__proto__"].polluted = 1')).toThrow('not extensible');
  expect(() => evaluate('[].constructor.prototype.polluted = 1')).toThrow('not extensible');
  expect(() => evaluate('(() => {}).__proto__.polluted = 1')).toThrow('not extensible');
  expect(evaluate('const error = new Error(); error.toString = () => "own"; String(error)')).toBe('own');
  expect(evaluate('JSON.stringify([({}).length, ({}).polluted])')).toBe('[null,null]');
});
