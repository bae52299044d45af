/** The settings of live data: WebSockets, subscriptions, topics. */
import { bytesSetting, positiveSetting, wholeNumberSetting } from '../../base/settings.js';

export const LIVE_SETTINGS = {
  topicMessageBytes: {
    variable: 'TOPIC_MESSAGE_BYTES',
    default: '65536',
    schema: wholeNumberSetting(1, 1_000_000),
    meaning: 'largest message published to a topic, as JSON',
  },
  liveConnections: {
    variable: 'LIVE_CONNECTIONS',
    default: '2000',
    schema: positiveSetting,
    meaning: 'WebSockets of this gateway at once',
  },
  liveConnectionsPerCredential: {
    variable: 'LIVE_CONNECTIONS_PER_CREDENTIAL',
    default: '10',
    schema: positiveSetting,
    meaning: 'WebSockets of one user on this gateway at once',
  },
  liveSubscriptionsPerConnection: {
    variable: 'LIVE_SUBSCRIPTIONS_PER_CONNECTION',
    default: '50',
    schema: positiveSetting,
    meaning: 'subscriptions of one WebSocket at once',
  },
  liveQueueBytes: {
    variable: 'LIVE_QUEUE_BYTES',
    default: '4194304',
    schema: bytesSetting,
    meaning: 'events that may wait for a WebSocket whose reader is slow; with more, it is closed',
  },
  liveInitTimeoutMs: {
    variable: 'LIVE_INIT_TIMEOUT_MS',
    default: '5000',
    schema: positiveSetting,
    meaning: 'how long a WebSocket may take to say who it is, in milliseconds',
  },
  changePollMs: {
    variable: 'CHANGE_POLL_MS',
    default: '100',
    schema: wholeNumberSetting(1, 60_000),
    meaning:
      'how often the database is asked for changes and messages that other gateways made, while ' +
      'somebody subscribes, in milliseconds',
  },
} as const;
