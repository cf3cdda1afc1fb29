import type { Change } from '../../src/hire/change.ts';
import { undecided } from '../../src/hire/decisions.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { Held } from '../../src/hire/holds.ts';
import { planEmployee as plan } from '../../src/plan/plan-employee.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { foreseeClaim } from './claim-person.ts';
import { knownPerson, observe } from './plan-employee.ts';
import { readSources } from './read-sources.ts';
import type { HireContext } from './with-hire.ts';

type Preview = { verdict: 'plan'; change: Change } | { verdict: 'left' } | Held;

/**
 * What would be planned for a hire that is not started: both sides are read as they would be, and nothing is claimed,
 * noted or written.
 */
export async function previewEmployee(deps: ActivityDeps, connection: Connection, ref: HireRef): Promise<Preview> {
  const hire = unstarted(deps, connection, ref);
  // Between stages that enrol and stages that create somebody is hired all the same.
  const read = await readSources(hire, { anyStage: true });
  if (read.verdict !== 'read') return { verdict: 'left' };
  const claimed = await foreseeClaim(hire, read.sources.candidateId);
  if (claimed.verdict === 'hold') return claimed;
  const change = plan(await observe(hire, knownPerson(hire, read.sources, claimed.before)), undecided);
  return 'verdict' in change ? change : { verdict: 'plan', change };
}

/** A hire as it would stand at its first step. */
function unstarted(deps: ActivityDeps, connection: Connection, ref: HireRef): HireContext {
  const row: HireRow = {
    tenant_id: ref.tenantId,
    job_candidate_id: ref.jobCandidateId,
    period: ref.period,
    candidate_id: null,
    job_id: null,
    state: 'before-go-live',
    step: 'ended',
    onboarding_candidate_id: null,
    onboarding_reference: null,
    enrolment: 1,
    onboarding_status: null,
    onboarding_read_at: null,
    employee_id: null,
    employee_number: null,
    connection: null,
    opened_at: 0,
    updated_at: 0,
    ended_at: null,
    observed: null,
    passed_over: null,
  };
  const { store } = deps;
  return { deps, store, connection, ref, row, answers: [], decisions: undecided, creation: undefined };
}
