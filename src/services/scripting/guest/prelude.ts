/**
 * Evaluated in every guest before its script: builds `platform`, `console` and `args` from two functions of
 * the thread.
 *
 * It shares its realm with the script, which may modify every built-in object, so it saves the ones it needs
 * beforehand. It is not a security boundary: the other side of `callHost` checks everything as if the script
 * had sent it.
 *
 * The text is a function `(callHost, print, functions) => { start, result, … }`, whose members guest.ts calls;
 * its stack frames are recognized by `PRELUDE_NAME`.
 */
export const PRELUDE_NAME = '<platform>';

export const PRELUDE = String.raw`(function (callHost, printLine, functionsText) {
'use strict';
const { parse, stringify } = JSON;
const { freeze, defineProperty, create, keys } = Object;
const { isArray } = Array;
const { apply } = Reflect;
const NativeError = Error, NativePromise = Promise, NativeRegExp = RegExp, NativeMap = Map, NativeSet = Set;
const unbound = (method) => (self, ...args) => apply(method, self, args);
const slice = unbound(String.prototype.slice);
const pop = unbound(Array.prototype.pop), shift = unbound(Array.prototype.shift);
const then = unbound(Promise.prototype.then);
const setAdd = unbound(Set.prototype.add), setDelete = unbound(Set.prototype.delete);
const setForEach = unbound(Set.prototype.forEach);
const MOST_LINE = 16384;

let firstFault;
const recordFault = (error) => { firstFault ??= { error }; };
const unobserved = new NativeSet();

/** A refusal of the gateway, as an error of the script. */
function toError(text) {
  const report = parse(text);
  const error = new NativeError(report.message);
  defineProperty(error, 'name', { value: 'ServiceError', configurable: true, writable: true });
  for (const key of ['code', 'status', 'errors']) if (report[key] !== undefined) error[key] = report[key];
  return error;
}

/** The settled promise of a host call. That nobody looks at its failure is a fault of the script. */
class HostPromise extends NativePromise {
  static get [Symbol.species]() { return NativePromise; }
  then(onFulfilled, onRejected) {
    setDelete(unobserved, this);
    return then(this, onFulfilled, onRejected);
  }
  [Symbol.toPrimitive]() {
    throw new TypeError('this is a promise of a value: write await before the call');
  }
}

function encode(name, args) {
  const list = [];
  for (let i = 0; i < args.length; i++) list[i] = args[i] === undefined ? null : args[i];
  return stringify(list, function (key, value) {
    switch (typeof value) {
      case 'string': case 'boolean': return value;
      case 'number':
        if (value - value === 0) return value;
        throw new TypeError('platform.' + name + ': "' + key + '" is ' + value + ', which JSON cannot hold');
      case 'object':
        if (value instanceof NativeRegExp) return { $regex: value.source, $options: value.flags };
        if (value instanceof HostPromise) throw new TypeError('platform.' + name + ': "' + key + '" is a promise: write await before the call that gave it');
        if (value instanceof NativeMap || value instanceof NativeSet) throw new TypeError('platform.' + name + ': "' + key + '" is a Map or a Set, which JSON cannot hold');
        return value;
      case 'undefined':
        throw new TypeError('platform.' + name + ': "' + key + '" is undefined: leave it out or write null');
      default:
        throw new TypeError('platform.' + name + ': "' + key + '" is a ' + typeof value + ', which JSON cannot hold');
    }
  });
}

function ask(operation, name, text) {
  const answer = callHost(operation, name, text);
  if (answer.length === 1) return undefined;
  if (answer[0] === '-') throw toError(slice(answer, 1));
  return parse(slice(answer, 1));
}

function functionOf({ name, returns }) {
  return (...args) => {
    const callback = args.length > 0 && typeof args[args.length - 1] === 'function' ? pop(args) : undefined;
    if (callback === undefined && returns === 'value') return ask('call', name, encode(name, args));
    let error = null, value;
    try { value = ask('call', name, encode(name, args)); } catch (thrown) { error = thrown; }
    const promise = new HostPromise((resolve, reject) => {
      if (callback === undefined) return error === null ? resolve(value) : reject(error);
      const called = then(NativePromise.resolve(), () => callback(error, value));
      then(called, () => { setDelete(unobserved, promise); resolve(); }, reject);
    });
    if (callback !== undefined || error !== null) setAdd(unobserved, promise);
    return promise;
  };
}

const opened = new NativeSet();
const waiting = [];

function openStream(name, args) {
  const cursor = ask('open', name, encode(name, args));
  setAdd(opened, cursor);
  return cursor;
}

/** If the gateway has no further stream for the script, waits until the script has closed one. */
async function openInTurn(name, args) {
  for (;;) {
    try {
      return openStream(name, args);
    } catch (error) {
      if (error.code !== 'LIMIT_EXCEEDED' || opened.size === 0) throw error;
      const isFree = await new NativePromise((resolve) => { waiting[waiting.length] = resolve; });
      if (!isFree) throw error;
    }
  }
}

/** Whether a stream waits that may try again, or has to give up. */
function serve(isFree) {
  const next = shift(waiting);
  next?.(isFree);
  return next !== undefined;
}

function streamOf({ name }) {
  function* pieces(cursor) {
    let isOpen = true;
    try {
      for (;;) {
        const { records, isLast } = ask('next', name, stringify([cursor]));
        if (isLast) isOpen = false;
        for (let i = 0; i < records.length; i++) yield records[i];
        if (isLast) return;
      }
    } finally {
      setDelete(opened, cursor);
      if (isOpen) ask('close', name, stringify([cursor]));
      serve(true);
    }
  }
  const readAll = async (args, eod, com) => {
    let count = 0, failure = null;
    try {
      for (const record of pieces(await openInTurn(name, args))) { await eod(record); count++; }
    } catch (error) {
      if (com === undefined) throw error;
      failure = error;
    }
    await com?.(failure, count);
    return count;
  };
  return (...args) => {
    const callbacks = [];
    while (args.length > 0 && typeof args[args.length - 1] === 'function') callbacks[callbacks.length] = pop(args);
    if (callbacks.length > 2) {
      const most = ' takes two functions at most: one for each record, one for the end';
      throw new TypeError('platform.' + name + most);
    }
    if (callbacks.length > 0) {
      const [com, eod] = callbacks.length === 2 ? callbacks : [undefined, callbacks[0]];
      return promiseOf(readAll(args, eod, com));
    }
    const records = (function* () { yield* pieces(openStream(name, args)); })();
    const inTurn = (async function* () { yield* pieces(await openInTurn(name, args)); })();
    return freeze({
      [Symbol.iterator]: () => records,
      [Symbol.asyncIterator]: () => inTurn,
      toArray: () => [...records],
    });
  };
}

/** The promise of work of the platform. */
function promiseOf(work) {
  const promise = new HostPromise((resolve, reject) => { then(work, resolve, reject); });
  setAdd(unobserved, promise);
  return promise;
}

async function inTransaction(work) {
  ask('begin', 'transaction', '[]');
  let value;
  try { value = await work(); } catch (error) { ask('rollback', 'transaction', '[]'); throw error; }
  ask('commit', 'transaction', '[]');
  return value;
}

function format(value) {
  switch (typeof value) {
    case 'string': return value;
    case 'function': return '[function ' + value.name + ']';
    case 'object': {
      if (value === null) return 'null';
      if (value instanceof NativeError) return value.name + ': ' + value.message + '\n' + (value.stack ?? '');
      if (value instanceof NativePromise) return '[a promise: write await]';
      try { return stringify(value) ?? '[object]'; } catch { return '[object]'; }
    }
    default: return typeof value === 'bigint' ? value + 'n' : String(value);
  }
}

function printer(level) {
  return (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) {
      const text = format(values[i]);
      line += (i === 0 ? '' : ' ') + (text.length > MOST_LINE ? slice(text, 0, MOST_LINE) + '…' : text);
      if (line.length > MOST_LINE) break;
    }
    printLine(level, line);
  };
}

/** Reading a member that does not exist throws, with the names that do. */
const membersOf = (path) => create(new Proxy(create(null), {
  get(_, key) {
    if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return;
    ask('call', path === '' ? key : path + '.' + key, '[]');
  },
}));
const platform = membersOf('');
const rooms = { '': platform };
const roomOf = (path) => {
  if (rooms[path] !== undefined) return rooms[path];
  const cut = path.lastIndexOf('.');
  const room = membersOf(path);
  defineProperty(roomOf(cut < 0 ? '' : path.slice(0, cut)), path.slice(cut + 1), { value: room, enumerable: true });
  return rooms[path] = room;
};
platform.print = printer('info');
platform.transaction = (work) => {
  if (typeof work !== 'function') {
    throw new TypeError('platform.transaction takes a function, whose writes are made all or none');
  }
  return promiseOf(inTransaction(work));
};
for (const shape of parse(functionsText)) {
  const cut = shape.name.lastIndexOf('.');
  const method = shape.kind === 'stream' ? streamOf(shape) : functionOf(shape);
  defineProperty(method, 'name', { value: shape.name });
  defineProperty(roomOf(cut < 0 ? '' : shape.name.slice(0, cut)), shape.name.slice(cut + 1), { value: freeze(method), enumerable: true });
}
for (const path of keys(rooms)) freeze(rooms[path]);
freeze(HostPromise.prototype);
const fixed = (name, value) => defineProperty(globalThis, name, { value, enumerable: true });
for (const { prototype } of [Date, Number, BigInt, Array]) {
  for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    const plain = prototype[name];
    if (plain === undefined) continue;
    defineProperty(prototype, name, {
      value: function (...options) {
        if (options.length === 0) return apply(plain, this, []);
        const advice = ' takes no arguments here: use platform.format, e.g. platform.format.day(date)';
        throw new TypeError(name + advice);
      },
      writable: true, configurable: true,
    });
  }
}
fixed('platform', platform);
fixed('console', freeze({
  log: printer('info'), info: printer('info'), warn: printer('warn'), error: printer('error'),
  debug: printer('debug'), trace: printer('debug'),
}));

let args;
return {
  start(text) { args = parse(text); fixed('args', args); },
  async result(namespace) {
    let value = namespace.default;
    if (typeof value === 'function') value = value(args);
    value = await value;
    return value === undefined ? undefined : stringify(value);
  },
  /** No stream is going to be closed any more: one that waits for it fails. */
  refuseWaiting: () => serve(false),
  /** The first thing that went wrong where nobody waits for it. */
  throwFault() {
    setForEach(unobserved, (promise) => { then(promise, undefined, recordFault); });
    return () => { if (firstFault !== undefined) throw firstFault.error; };
  },
  describe(error) {
    const short = (value, most) => slice(typeof value === 'string' ? value : '', 0, most);
    if (!(error instanceof NativeError)) return stringify({ name: 'Error', message: 'threw ' + short(format(error), 2000), stack: '' });
    const { code, status, errors } = error;
    const report = { name: short(error.name, 100) || 'Error', message: short(error.message, 4000), stack: short(error.stack, 8000) };
    if (typeof code === 'string' && typeof status === 'number') report.refusal = short(stringify({ code, status, errors }), 8000);
    return stringify(report);
  },
};
})`;
