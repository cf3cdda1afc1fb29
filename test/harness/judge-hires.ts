import { type Applicant, type TenantWorld, writtenBack } from './world.ts';

/** What became of some hires, counted by the partner's ledger and the HRIS's own table. */
export interface Judged {
  hires: number;
  employees: number;
  credits: number;
  /** Hires whose employee's number is the Employee ID that the partner shows. */
  verified: number;
}

export interface Evidence {
  of(people: Iterable<Applicant>): Judged;
  /** Everything in the world, whoever it belongs to. */
  all: Omit<Judged, 'hires' | 'verified'>;
}

export function isExactlyOnce({ hires, employees, credits, verified }: Judged): boolean {
  return employees === hires && credits === hires && verified === hires;
}

/** Reads ledger and HRIS once; then anybody's hires can be counted. */
export async function gatherEvidence(world: TenantWorld): Promise<Evidence> {
  const [employees, enrolments, credits, written] = await Promise.all([
    world.employees(),
    world.effects('enrolment'),
    world.effects('onboarding-credit'),
    writtenBack(world),
  ]);
  const numbers = Map.groupBy(employees, (one) => one.reference);
  const enrolled = new Map(
    enrolments.map((row) => [String(row.subject), String(row.detail['externalRef']).split(':')[1]]),
  );
  const spent = Map.groupBy(credits, (row) => enrolled.get(String(row.subject)));
  return {
    all: { employees: employees.length, credits: credits.length },
    of(people) {
      const judged = { hires: 0, employees: 0, credits: 0, verified: 0 };
      for (const { jobCandidateId, candidateId } of people) {
        const own = numbers.get(`${world.company}:${candidateId}`) ?? [];
        judged.hires += 1;
        judged.employees += own.length;
        judged.credits += spent.get(String(jobCandidateId))?.length ?? 0;
        judged.verified += own.some((one) => one.number === written.get(String(jobCandidateId))) ? 1 : 0;
      }
      return judged;
    },
  };
}
