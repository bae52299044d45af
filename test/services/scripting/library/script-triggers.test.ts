import { expect, it } from '@jest/globals';
import { type Scope, systemPrincipal } from '../../../../src/base/model/scope.js';
import { createScriptTriggers } from '../../../../src/services/scripting/library/script-triggers.js';
import { FairQueue } from '../../../../src/store/database/fair-queue.js';

it('lets a task of the service wait longer than a user, whatever the id of the user is', async () => {
  const writeQueue = new FairQueue({ total: 1, waitMs: 10_000, refusal: 'busy' });
  const held = await writeQueue.acquire({ tenant: 'another', caller: 'user' });
  const triggers = createScriptTriggers({
    scripting: () => ({ scripts: { starts: { mayAsk: () => true } }, writeQueue }) as never,
    beforeTimeoutMs: 20,
  });
  const reserve = (principal: Scope['principal']) =>
    triggers.reserve(
      { domain: { id: 'school' }, principal, call: { requestId: 'test' } } as Scope,
      'anything',
    );
  const task = systemPrincipal('messages', ['admin'], 'school');
  await expect(reserve({ ...task, kind: 'user' })).rejects.toThrow('busy');
  const reserved = reserve(task);
  await new Promise((resolve) => setTimeout(resolve, 60));
  held.release();
  await expect(reserved).resolves.toMatchObject({ waitedMs: 0 });
}, 5_000);
