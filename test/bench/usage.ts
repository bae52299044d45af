/** What a measured process has used, asked and answered over the channel between parent and child. */

export interface Usage {
  readonly rssBytes: number;
  /** Of all threads, user and system, since the process began. */
  readonly cpuMicroseconds: number;
}

const QUESTION = 'usage';

/** In the child: answers every question of the parent. */
export function answerUsage(): void {
  process.on('message', (message) => {
    if (message !== QUESTION) return;
    const { user, system } = process.cpuUsage();
    process.send?.({ usage: { rssBytes: process.memoryUsage.rss(), cpuMicroseconds: user + system } });
  });
}

/** In the parent: what to send, and how to know the answer. */
export const usageQuestion = QUESTION;

export function toUsage(message: unknown): Usage | undefined {
  return isAnswer(message) ? message.usage : undefined;
}

function isAnswer(message: unknown): message is { readonly usage: Usage } {
  return typeof message === 'object' && message !== null && 'usage' in message;
}
