import type { HireDocumentRow } from './document-tables.ts';
import type { HireStepRow } from './hire-steps.ts';
import type { Store } from './open-store.ts';
import { employedRows } from './people.ts';
import type { HireRow, HoldRow, IntentRow, PlanRow } from './schema.ts';

/** All that the store keeps about one hire, without personal data. */
export interface HireRecords {
  hire: HireRow;
  deliveries: { event: string; ids: string; state: string; received_at: number; done_at: number | null }[];
  intents: IntentRow[];
  plans: Pick<PlanRow, 'plan_id' | 'mapping_hash' | 'planned_at' | 'applied_at'>[];
  holds: HoldRow[];
  documents: Pick<
    HireDocumentRow,
    'document' | 'state' | 'attempt' | 'sha256' | 'reason' | 'sent_at' | 'read_back_at'
  >[];
  steps: HireStepRow[];
  links: { employee_id: string; employee_number: string | null; linked_at: number }[];
}

/** At most this many deliveries, the latest. */
const MOST_DELIVERIES = 200;
/** An event may arrive this long before the hire that it leads to is opened. */
const BEFORE_MS = 3_600_000;
/** At most this many of the tenant's later deliveries are searched. */
const MOST_SEARCHED = 5_000;
/** An event this long after the last change of an ended hire has changed nothing. */
const AFTER_MS = 24 * 3_600_000;

export async function readHireRecords(store: Store, hire: HireRow): Promise<HireRecords> {
  const { tenant_id: tenantId, job_candidate_id: jobCandidateId, period } = hire;
  const key = { tenant_id: tenantId, job_candidate_id: jobCandidateId, period };
  const { kysely } = store;
  const [deliveries, intents, plans, holds, documents, steps, links] = await Promise.all([
    deliveriesOf(store, hire),
    kysely
      .selectFrom('intents')
      .selectAll()
      .where((eb) => eb.and(key))
      .execute(),
    kysely
      .selectFrom('plans')
      .select(['plan_id', 'mapping_hash', 'planned_at', 'applied_at'])
      .where((eb) => eb.and(key))
      .execute(),
    kysely
      .selectFrom('holds')
      .selectAll()
      .where((eb) => eb.and(key))
      .execute(),
    kysely
      .selectFrom('hire_documents')
      .select(['document', 'state', 'attempt', 'sha256', 'reason', 'sent_at', 'read_back_at'])
      .where((eb) => eb.and(key))
      .execute(),
    kysely
      .selectFrom('hire_steps')
      .selectAll()
      .where((eb) => eb.and(key))
      .execute(),
    kysely
      .selectFrom(employedRows(store).as('employed'))
      .select(['employee_id', 'employee_number', 'linked_at'])
      .where((eb) => eb.and(key))
      .execute(),
  ]);
  return { hire, deliveries, intents, plans, holds, documents, steps, links };
}

/** Events that carry an id of this hire. Ids are quoted in the JSON, so a search for 12 does not find 512. */
async function deliveriesOf(store: Store, hire: HireRow): Promise<HireRecords['deliveries']> {
  const ids = [hire.job_candidate_id, hire.onboarding_candidate_id].filter((id) => id !== null);
  let since = store.kysely
    .selectFrom('inbox')
    .select(['event', 'ids', 'state', 'received_at', 'done_at'])
    .where('tenant_id', '=', hire.tenant_id)
    .where('received_at', '>=', Number(hire.opened_at) - BEFORE_MS)
    .orderBy('received_at')
    .limit(MOST_SEARCHED);
  if (hire.state !== 'open') since = since.where('received_at', '<=', Number(hire.updated_at) + AFTER_MS);
  return store.kysely
    .selectFrom(since.as('since'))
    .selectAll()
    .where((eb) => eb.or(ids.map((id) => eb('ids', 'like', `%${JSON.stringify(id)}%`))))
    .orderBy('received_at', 'desc')
    .limit(MOST_DELIVERIES)
    .execute();
}
