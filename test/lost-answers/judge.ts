import { contract } from '../../src/partner/contract/index.ts';
import { type World, writtenBack } from '../harness/world.ts';
import type { Hire } from './arm.ts';
import type { Records } from './records.ts';

/** What became of one hire, by the partner's ledger and the HRIS's own table; holds as the product keeps them. */
export interface Judged {
  enrolments: number;
  credits: number;
  employees: number;
  holds: number;
  /** The employee's number stands with the partner, and so does the custom field's value. */
  verified: boolean;
}

export async function judge(
  world: World,
  hires: readonly Hire[],
  customFieldId: string,
  records: Records,
): Promise<Judged[]> {
  const [employees, enrolments, credits, written, holds] = await Promise.all([
    world.employees(),
    world.effects('enrolment'),
    world.effects('onboarding-credit'),
    writtenBack(world),
    records.holds(),
  ]);
  return Promise.all(
    hires.map(async ({ applicant, email }) => {
      const id = String(applicant.jobCandidateId);
      const own = enrolments.filter((row) => String(row.detail['externalRef']).split(':')[1] === id);
      const subjects = new Set(own.map((row) => row.subject));
      const same = employees.filter((employee) => employee.email === email);
      const shown = await customValue(world, applicant.candidateId, customFieldId);
      return {
        enrolments: own.length,
        credits: credits.filter((row) => subjects.has(row.subject)).length,
        employees: same.length,
        holds: holds.filter((hold) => hold.job_candidate_id === id).length,
        verified: same.length === 1 && same[0]?.number === written.get(id) && shown === email,
      };
    }),
  );
}

async function customValue(world: World, candidateId: number, customFieldId: string): Promise<unknown> {
  const query = { entityType: 'candidate' as const, entityId: String(candidateId) };
  const { items } = await world.partner.readAll(contract.customFieldValues.list, { query });
  return items.find((item) => String(item.customFieldId) === customFieldId)?.value;
}
