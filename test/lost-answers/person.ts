import { openDatabase } from '../../src/sql/open-database.ts';
import { until, type World } from '../harness/world.ts';
import type { Hire } from './arm.ts';
import type { Records } from './records.ts';

/**
 * Somebody who answers each question about a create: looks into the HRIS's table, and says `link` when the employee is
 * there, `create` when
 * not. Throws on any other hold. `answered` keeps what was answered before.
 */
export async function answerHolds(
  world: World,
  records: Records,
  hires: readonly Hire[],
  answered: Set<string>,
): Promise<void> {
  const holds = await records.holds();
  const open = holds.filter((hold) => !answered.has(hold.hold_id));
  const employees = open.length === 0 ? [] : await world.employees();
  await Promise.all(
    open.map(async (hold) => {
      const hire = hires.find(({ applicant }) => String(applicant.jobCandidateId) === hold.job_candidate_id);
      if (hire === undefined || hold.code !== 'CREATE_UNKNOWN') throw new Error(`a hold ${hold.code}`);
      const before = holds.filter((other) => other.job_candidate_id === hold.job_candidate_id && other !== hold);
      const employee = employees.find(({ email }) => email === hire.email);
      answered.add(hold.hold_id);
      if (hire.one.byHand === true && before.length === 0) await enterByHand(world, hire.email);
      await answer(world, hold.hold_id, employee === undefined ? ['create'] : ['link', employee.id]);
    }),
  );
}

async function answer(world: World, holdId: string, words: string[]): Promise<void> {
  const { code, stderr } = await world.cli(['hold', 'answer', holdId, ...words]);
  if (code !== 0) throw new Error(`hold answer: ${stderr}`);
}

/** Somebody of the HR department makes the employee themselves; returns when reads show it. */
async function enterByHand(world: World, email: string): Promise<void> {
  const { kysely, close } = openDatabase<Record<'employees' | 'employees_directory', Record<string, string>>>(
    world.hrisUrl,
  );
  try {
    const record = { given_name: 'By', family_name: 'Hand', email, start_date: '2027-01-11' };
    await kysely.insertInto('employees').values(record).execute();
    await until('reads to show what was entered by hand', async () => {
      const shown = await kysely.selectFrom('employees_directory').select('email').where('email', '=', email).execute();
      return shown.length === 1;
    });
  } finally {
    await close();
  }
}
