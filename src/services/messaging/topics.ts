/**
 * Delivers messages to the listeners of a topic on every gateway: subscriptions to the GraphQL field
 * `topic(name)`, and scripts with that topic as a trigger.
 */

import { invalidAt, ServiceError } from '../../base/errors.js';
import { type JsonValue, parseExactJson, printExactJson } from '../../base/json/json.js';
import type { Scope } from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { CommitFollower } from '../../store/changes/commit-follower.js';
import type { Database } from '../../store/database/database.js';
import type { Transaction } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';

export interface TopicMessage {
  /** Unique, the same on every gateway, and increasing with time. */
  readonly id: string;
  readonly domainId: string;
  readonly topic: string;
  readonly message: JsonValue;
  readonly at: Date;
  /** `_id` of the user, or the name of the task. */
  readonly publisher: string;
}

/** The scripts that a message starts; passed in by the scripting room. */
export interface TopicTriggers {
  /**
   * An SQL expression over the message `m` that enqueues the scripts it starts. `undefined` if it starts
   * none.
   */
  afterMessage(scope: Scope, topic: string): Sql | undefined;
}

export interface TopicsOptions {
  readonly database: Pick<Database, 'query' | 'background'> & Partial<Pick<Database, 'replicas'>>;
  /** A property of a domain, by its id. */
  readonly property: (domainId: string, name: string) => JsonValue | undefined;
  /** The largest message, as JSON text. */
  readonly maxMessageBytes: number;
  /** The interval of polling the database while there are listeners. */
  readonly pollMs: number;
  readonly triggers?: TopicTriggers | undefined;
  readonly onFault: (error: unknown) => void;
}

export interface TopicSubscription {
  /** Resolves once every message published from then on will be delivered. */
  readonly ready: Promise<void>;
  stop(): void;
}

export type TopicListener = (message: TopicMessage) => void;

/** The property with the roles that may listen, by topic or by prefix of topics with a `*`. */
const TOPIC_ROLES_PROPERTY = 'topicRoles';

const TOPIC_NAME = /^[A-Za-z0-9_.:/-]{1,128}$/;
/** A page is small because messages may be as long as the limit. */
const PAGE_ROWS = 100;

/**
 * A message is a row that commits with the transaction in which it is published. Every gateway with a
 * listener reads it: each listener gets it once, after the commit, in the order of publishing. The row is
 * kept for a day, for gateways that lost their database connection; later listeners do not get it.
 */
export class Topics {
  readonly #options: TopicsOptions;
  readonly #follower: CommitFollower<TopicRow, TopicMessage>;
  /** The listeners by domain and topic. */
  readonly #listeners = new Map<string, Set<{ readonly listen: TopicListener }>>();
  #following: TopicSubscription | undefined;

  constructor(options: TopicsOptions) {
    this.#options = options;
    this.#follower = new CommitFollower({
      ...options,
      table: 'topic_messages',
      columns: sql`at, domain as "domainId", topic, message::text as message, principal as publisher`,
      toNews: ({ id, at, domainId, topic, message, publisher }) => {
        return { id, at, domainId, topic, message: parseExactJson(message), publisher };
      },
      pageRows: PAGE_ROWS,
    });
  }

  /**
   * Publishes to a topic of the caller's domain. A caller of this method may publish to any topic of it; only
   * listening needs rights.
   *
   * @throws INVALID_VALUE for a name or a text that cannot be stored; LIMIT_EXCEEDED for a message that is
   *   too long
   */
  async publish(
    scope: Scope,
    topic: string,
    message: JsonValue,
    options: { readonly within?: Transaction | undefined } = {},
  ): Promise<void> {
    assertTopic(topic);
    const text = printExactJson(message);
    const { maxMessageBytes } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (bytes > maxMessageBytes) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `A message has at most ${maxMessageBytes} bytes of JSON, not ${bytes}; publish where to find ` +
          'the rest.',
      );
    }
    const started = this.#options.triggers?.afterMessage(scope, topic) ?? sql`1`;
    await (options.within ?? this.#options.database).query(sql`
      with published as (
        insert into topic_messages (domain, topic, message, principal)
        values (${scope.domain.id}, ${topic}, ${text}::jsonb, ${scope.principal.id})
        returning topic, message
      )
      select ${started} as started
      from published m`);
    if (!options.within) this.#follower.wake();
  }

  /**
   * Checks whether a caller may listen: an admin to every topic, other users if the property `topicRoles` of
   * the domain names one of their roles, or `*`. An API key may not, because its scopes contain no topics.
   *
   * @throws FORBIDDEN, which names the property to set; INVALID_VALUE for a malformed name
   */
  assertMayListen({ domain, principal }: Scope, topic: string): void {
    assertTopic(topic);
    if (principal.scopes !== undefined) {
      throw new ServiceError('FORBIDDEN', "An API key's scopes do not allow it to listen to topics.");
    }
    if (principal.roles.has('admin')) return;
    const roles = rolesOf(topic, this.#options.property(domain.id, TOPIC_ROLES_PROPERTY));
    if (roles.some((role) => role === '*' || principal.roles.has(role))) return;
    const whose = roles.length === 0 ? 'admins' : `admins and the roles ${roles.join(', ')}`;
    throw new ServiceError(
      'FORBIDDEN',
      `The topic "${topic}" is for ${whose}; an admin opens it by the property ${TOPIC_ROLES_PROPERTY}.`,
    );
  }

  /**
   * Calls the listener with each message published to the topic from now on. It checks no rights: use
   * `assertMayListen` for callers. The listener must return quickly and limit what it buffers.
   */
  follow(domainId: string, topic: string, listen: TopicListener): TopicSubscription {
    const key = keyOf(domainId, topic);
    const listener = { listen };
    const listeners = getOrMake(this.#listeners, key, () => new Set());
    listeners.add(listener);
    this.#following ??= this.#follower.subscribe((messages) => this.#deliver(messages));
    return {
      ready: this.#following.ready,
      stop: () => {
        listeners.delete(listener);
        if (listeners.size > 0 || this.#listeners.get(key) !== listeners) return;
        this.#listeners.delete(key);
        if (this.#listeners.size > 0) return;
        this.#following?.stop();
        this.#following = undefined;
      },
    };
  }

  /** Calls no listener afterwards. */
  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#follower.close();
  }

  #deliver(messages: readonly TopicMessage[]): void {
    for (const message of messages) {
      for (const { listen } of [...(this.#listeners.get(keyOf(message.domainId, message.topic)) ?? [])]) {
        try {
          listen(message);
        } catch (error) {
          this.#options.onFault(error);
        }
      }
    }
  }
}

type TopicRow = Omit<TopicMessage, 'message'> & { readonly message: string };

function assertTopic(topic: string): void {
  if (TOPIC_NAME.test(topic)) return;
  const expected = '1 to 128 letters, digits, `_`, `.`, `:`, `/` or `-`';
  throw invalidAt(`"${topic.slice(0, 128)}" cannot be the name of a topic: ${expected}`, {
    parameter: 'topic',
    detail: 'not the name of a topic',
    expected,
    sent: topic.slice(0, 128),
  });
}

/**
 * All roles of the entries that name the topic, or a prefix of it with a `*`. Malformed entries grant
 * nothing.
 */
function rolesOf(topic: string, property: JsonValue | undefined): readonly string[] {
  if (typeof property !== 'object' || property === null || Array.isArray(property)) return [];
  const entries = Object.entries(property).filter(([pattern]) =>
    pattern.endsWith('*') ? topic.startsWith(pattern.slice(0, -1)) : pattern === topic,
  );
  return entries.flatMap(([, roles]) =>
    Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
  );
}

/** Joined by a line feed, which neither part may contain. */
function keyOf(domainId: string, topic: string): string {
  return `${domainId}\n${topic}`;
}
