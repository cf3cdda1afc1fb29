import type { OwnEmployee } from '../../src/counterparts/hris-sources.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { ControlClient } from '../../src/sandbox/control/client.ts';
import type { LedgerRow } from '../../src/sandbox/records/ledger.ts';
import { openDatabase } from '../../src/sql/open-database.ts';

export type Employee = OwnEmployee;

/** A person of the sandbox who is not hired yet. */
export interface Applicant {
  jobCandidateId: number;
  candidateId: number;
  jobId: number;
}

export async function defineStartDate(partner: PartnerClient, fill: boolean): Promise<string> {
  const answer = await partner.customFields.create({
    body: { entityType: 'candidate', fieldLabel: 'Start date', fieldType: 'date', parentSection: 'Miscellaneous' },
  });
  const id = String(answer.data.id);
  if (!fill) return id;
  const { items } = await partner.readAll(contract.candidates.list);
  const values = items.map((person) => ({
    customFieldId: id,
    entityType: 'candidate' as const,
    entityId: String(person.id),
    value: '2099-01-11',
  }));
  await partner.inChunks(contract.customFieldValues.upsertBulk, { body: values });
  return id;
}

export async function listApplicants(partner: PartnerClient): Promise<Applicant[]> {
  const { items: jobs } = await partner.readAll(contract.jobs.list);
  const people = new Map<number, Applicant>();
  for (const job of jobs) {
    const jobId = Number(job.id);
    for (const stageType of ['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED'] as const) {
      const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query: { stageType, jobId } });
      for (const { jobCandidateDetails: details } of items)
        people.set(Number(details.id), {
          jobCandidateId: Number(details.id),
          candidateId: Number(details.candidateId),
          jobId,
        });
    }
  }
  return [...people.values()].toSorted((a, b) => a.jobCandidateId - b.jobCandidateId);
}

export async function finishOnboardings(control: ControlClient, partner: PartnerClient): Promise<void> {
  const live = new Set(['not_started', 'in_progress', 'partial_submission', 'under_review']);
  const { items } = await partner.readAll(contract.onboarding.listCandidates);
  for (const item of items.filter((one) => live.has(String(one.overallStatus))))
    await control.act('finishOnboarding', { onboardingCandidateId: String(item.onboardingCandidateId) });
}

export async function readEmployees(url: string): Promise<Employee[]> {
  const { kysely, close } = openDatabase<{
    employees: { id: number; employee_number: string; external_ref?: string; email: string | null };
  }>(url);
  try {
    const rows = await kysely.selectFrom('employees').selectAll().orderBy('id').execute();
    return rows.map((row) => ({
      id: String(row.id),
      number: row.employee_number,
      reference: row.external_ref ?? null,
      email: row.email,
    }));
  } finally {
    await close();
  }
}

interface Ledger {
  effects(name: string): Promise<LedgerRow[]>;
}

/** The latest Employee ID on each enrolment of ours, by job candidate: what the ledger says was written back. */
export async function writtenBack(world: Ledger): Promise<Map<string, string>> {
  const enrolments = new Map(
    (await world.effects('enrolment')).map((row) => [String(row.subject), String(row.detail['externalRef'])]),
  );
  const written = new Map<string, string>();
  for (const row of await world.effects('external-status')) {
    const jobCandidateId = enrolments.get(String(row.subject))?.split(':')[1];
    const employeeId = row.detail['employeeId'];
    if (jobCandidateId !== undefined && employeeId !== undefined) written.set(jobCandidateId, String(employeeId));
  }
  return written;
}
