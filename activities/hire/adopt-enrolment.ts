import { isConnectorError } from '../../src/errors.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { isSameHire } from '../../src/hire/hire-ref.ts';
import { held } from '../../src/hire/holds.ts';
import type { OnboardingCandidate } from '../../src/partner/contract/onboarding.ts';
import { cleanEmail } from '../../src/partner/contract/shapes.ts';
import { judgeAdoption } from '../../src/plan/judge-adoption.ts';
import { hireOf } from '../../src/store/hire-columns.ts';
import { hiresOfEnrolments, updateHire } from '../../src/store/hires.ts';
import { siblingsOf } from '../../src/store/tenant-states.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import { readPresence } from '../presence/read-presence.ts';
import { readEnrolmentReference } from './hire-references.ts';
import type { HireContext } from './with-hire.ts';

type Enrolled = Awaited<ReturnType<HireActivities['enrol']>>;

/**
 * Takes the enrolment that a person named for the one of this hire, if it fits. Two hires may be given the same one at
 * the same moment: whoever has it and then sees the other one there gives it back, and asks.
 */
export async function adoptEnrolment(hire: HireContext, id: string): Promise<Enrolled> {
  const { store, ref, row } = hire;
  if (row.onboarding_candidate_id === id) return { verdict: 'enrolled' };
  const taken = await take(hire, id);
  if (taken.verdict === 'hold') return taken;
  const otherHire = await holderBeside(hire, id);
  if (otherHire === undefined) return taken;
  const none = { onboarding_candidate_id: null, onboarding_reference: row.onboarding_reference };
  await updateHire(store, ref, { ...none, onboarding_status: null }, { enrolment: row.enrolment });
  const misfit = `belongs to job candidate ${otherHire}`;
  return held('ADOPT_MISFIT', { jobCandidateId: ref.jobCandidateId, onboardingCandidateId: id, misfit });
}

async function take(hire: HireContext, id: string): Promise<Enrolled> {
  const { store, connection, ref, row, decisions } = hire;
  const enrolment = await readEnrolment(hire, id);
  if (enrolment === undefined) return held('ADOPT_NOT_FOUND', { onboardingCandidateId: id });
  const { onboarding } = connection.tenant.policies;
  const presence = await readPresence(store, connection, ref.jobCandidateId, hiringStagesOf(connection.tenant));
  const person = presence.verdict === 'missing' ? undefined : presence.jobCandidate.candidate_details;
  const judged = judgeAdoption({
    jobCandidateId: ref.jobCandidateId,
    onboardingCandidateId: id,
    otherHire: await otherHireOf(hire, enrolment, id),
    flow: { shown: textOf(enrolment.flowId), wanted: onboarding === 'skip' ? undefined : textOf(onboarding.flow) },
    email: { shown: emailOf(enrolment.email), wanted: emailOf(person?.email) },
    emailConfirmed: decisions.adoptAnyway === id,
  });
  if (judged.verdict === 'hold') return judged;
  await updateHire(
    store,
    ref,
    {
      step: 'onboard',
      onboarding_candidate_id: id,
      onboarding_reference: enrolment.externalRef ?? null,
      onboarding_status: String(enrolment.overallStatus),
    },
    row,
  );
  return { verdict: 'enrolled' };
}

async function readEnrolment({ connection }: HireContext, id: string): Promise<OnboardingCandidate | undefined> {
  const request = { params: { onboardingCandidateId: id } };
  try {
    return (await connection.partner.onboarding.getCandidate(request, { priority: 'live' })).data;
  } catch (error) {
    if (!isConnectorError(error, 'NOT_FOUND')) throw error;
    return undefined;
  }
}

/** By our own records, and by our reference on an enrolment whose record was lost. */
async function otherHireOf(
  { store, ref }: HireContext,
  { externalRef }: OnboardingCandidate,
  id: string,
): Promise<string | undefined> {
  const holder = await holderBeside({ store, ref }, id);
  if (holder !== undefined) return holder;
  const named = readEnrolmentReference(externalRef)?.jobCandidateId;
  return named === ref.jobCandidateId ? undefined : named;
}

/** The job candidate of another hire that has it, in whichever tenant of the company. */
export async function holderBeside(
  { store, ref }: Pick<HireContext, 'store' | 'ref'>,
  id: string,
): Promise<string | undefined> {
  for (const tenantId of [ref.tenantId, ...(await siblingsOf(store, ref.tenantId))]) {
    const holders = await hiresOfEnrolments(store, tenantId, [id]);
    const holder = holders.find((one) => !isSameHire(hireOf(one), ref));
    if (holder !== undefined) return holder.job_candidate_id;
  }
  return undefined;
}

function textOf(value: string | number | null | undefined): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

/** As e-mails of enrolments are compared. */
export function emailOf(value: string | null | undefined): string | undefined {
  return value ? cleanEmail(value).toLowerCase() : undefined;
}
