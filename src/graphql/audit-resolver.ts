/** The door to the audit trail: who changed which record, when, from which version. For admins. */
import type { RecordStore } from '../store/record-store.js';
import { type RequestContext, requireScope } from './request-context.js';

export class AuditResolver {
  readonly #store: RecordStore;

  constructor(services: { readonly store: RecordStore }) {
    this.#store = services.store;
  }

  /** Newest first. @throws FORBIDDEN */
  async auditTrail(
    context: RequestContext,
    request: Parameters<RecordStore['auditTrail']>[1],
  ): Promise<Awaited<ReturnType<RecordStore['auditTrail']>>> {
    return await this.#store.auditTrail(requireScope(context), request);
  }
}
