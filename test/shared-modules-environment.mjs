/**
 * Where test files run: Jest's environment of Node, and in it the modules that the worker has loaded for all
 * of them (shared-modules-transformer.mjs).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { TestEnvironment } from 'jest-environment-node';
import { logSeconds, ownSeconds, PROCESSOR_LOG_VARIABLE } from './processor-seconds.mjs';
import { SHARED_MODULES } from './shared-modules-transformer.mjs';

const sharedModules = {
  import: (file) => import(pathToFileURL(file).href),
  require: createRequire(import.meta.url),
};

/**
 * What a test and a shared module have to agree on: an error, a date or a map of one is one to the other.
 * `RegExp`, `Array` and `Object` stay those of the realm of the test, whose literals would not be theirs
 * otherwise.
 */
const SHARED_GLOBALS = [
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError'],
  ...['Date', 'Map', 'Set', 'JSON', 'Reflect', 'String', 'Number', 'Boolean'],
];

/**
 * Jest makes an `AsyncLocalStorage` for every test file and leaves it switched on. Until Node 22, each is
 * visited for every promise: 300,000 promises take 0.1 s with one and 6.3 s with 95. Switching one off that
 * is still in use does no harm, because its next `run` switches it on again.
 */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function runAndRemember(...args) {
  storages.add(this);
  return run.apply(this, args);
};

/** When measured (processor-seconds.mjs): what this worker had used before the file. */
const secondsUntilNow = () => (process.env[PROCESSOR_LOG_VARIABLE] === undefined ? 0 : ownSeconds());

export default class SharedModulesEnvironment extends TestEnvironment {
  #file;
  #secondsBefore = secondsUntilNow();

  constructor(config, context) {
    super(config, context);
    this.#file = path.relative(import.meta.dirname, context.testPath);
    this.global[SHARED_MODULES] = sharedModules;
    for (const name of SHARED_GLOBALS) this.global[name] = globalThis[name];
  }

  async setup() {
    await super.setup();
    // Jest has each error keep a hundred, and a gateway makes an error of each refusal.
    Error.stackTraceLimit = 10;
  }

  async teardown() {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
    logSeconds({ file: this.#file, seconds: secondsUntilNow() - this.#secondsBefore });
  }
}
