import { phrase } from '../language/use-texts';

interface AuditedSubject {
  readonly name: string;
  /** The page of the changed object; absent if there is none. */
  pageOf?(id: string): string;
}

/** The audited objects other than records, by the name that replaces the collection in the audit trail. */
export const AUDITED_SUBJECTS: Readonly<Record<string, AuditedSubject>> = {
  $apiKey: { name: phrase('API keys'), pageOf: (id) => `/portal/keys/${id}` },
  $webhook: { name: phrase('Webhooks'), pageOf: (id) => `/portal/webhooks/${id}` },
  $accountLink: { name: phrase('Links to set a password'), pageOf: personPage },
  $secondFactor: { name: phrase('Second factors'), pageOf: personPage },
  $session: { name: phrase('Sessions'), pageOf: personPage },
  $password: { name: phrase('Passwords'), pageOf: personPage },
  $collection: { name: phrase('Collections'), pageOf: (id) => `/portal/collections/${id}` },
  $property: { name: phrase('Settings'), pageOf: (id) => `/portal/settings?find=${encodeURIComponent(id)}` },
  $domain: { name: phrase('Branches') },
};

function personPage(id: string): string {
  return `/portal/people/${encodeURIComponent(id)}`;
}
