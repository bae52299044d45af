/** Puts the JSON text of an event into a message that graphql-ws prints. */
import { randomUUID } from 'node:crypto';

/** A result that is already text. graphql-ws takes it for an object; `MessagePrinter` puts in the text. */
export class PrintedResult {
  /** Makes it look like an execution result to graphql-ws. */
  readonly data = null;

  constructor(readonly text: string) {}
}

/** Random, so that no stored text can be mistaken for it. */
const MARK = `printed-result:${randomUUID()}`;

/**
 * graphql-ws prints a message and hands it to the socket in one step: the results that `replace` met are the
 * ones that `print` inserts.
 */
export class MessagePrinter {
  #text: string | undefined;

  /** The replacer for `JSON.stringify`. */
  readonly replace = (_key: string, value: unknown): unknown => {
    if (!(value instanceof PrintedResult)) return value;
    this.#text = value.text;
    return MARK;
  };

  print(message: string): string {
    const text = this.#text;
    if (text === undefined) return message;
    this.#text = undefined;
    return message.replace(`"${MARK}"`, () => text);
  }
}
