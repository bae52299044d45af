/** The result of an event as JSON text, in a message that graphql-ws writes. */
import { randomUUID } from 'node:crypto';

/**
 * A result that is text already. graphql-ws takes it for an object, `MessagePrinter` puts the text in its
 * place.
 */
export class PrintedResult {
  /** What makes it an execution result to graphql-ws. */
  readonly data = null;

  constructor(readonly text: string) {}
}

/** Unknown outside this process, so no stored text can pass for it. */
const MARK = `printed-result:${randomUUID()}`;

/**
 * graphql-ws makes a message of JSON and hands it to the socket in one go: what `replace` met is what `print`
 * puts in.
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
