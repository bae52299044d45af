/**
 * A process that runs one command of `campus` after another, as they are told by its parent, and tells what
 * each printed. To load the program takes half a second of a processor, and the tests run some 200 commands.
 */
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

const PROGRAM = new URL('../../dist/program/program.js', import.meta.url);

const { runCampus } = await import(PROGRAM.href);
process.on('message', async ({ words, environment, input }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.exitCode = undefined;
  const printed = { stdout: new PassThrough(), stderr: new PassThrough() };
  takePlace('stdin', Readable.from(input === '' ? [] : [Buffer.from(input)]));
  takePlace('stdout', printed.stdout);
  takePlace('stderr', printed.stderr);
  const read = Promise.all([text(printed.stdout), text(printed.stderr)]);
  await runCampus(words);
  // A command listens to the end of its process, which here outlives it; eleven would be warned of.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  printed.stdout.end();
  printed.stderr.end();
  const [output, errors] = await read;
  process.send({ code: process.exitCode ?? 0, output, errors });
});
process.once('disconnect', () => process.exit());

function takePlace(name, stream) {
  Object.defineProperty(process, name, { value: stream, configurable: true });
}
