import { type Kysely, sql } from 'kysely';
import { parse } from 'yaml';

/**
 * Who was hired without hirebridge is known, too: a claim may stand for somebody recorded before go-live, observed or
 * passed over. `how`: null where a hire holds it. `recorded`: JSON of the recorded hire, which stays whoever holds it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table claims add column how text`.execute(db);
  await sql`alter table claims add column recorded text`.execute(db);
  const earlier = db as Kysely<Earlier>;
  const tenants = await earlier.selectFrom('tenants').select(['tenant_id', 'file']).execute();
  for (const { tenant_id, file } of tenants) {
    const system = systemOf(tenant_id, file);
    if (system !== undefined) await recordHires(earlier, tenant_id, system);
  }
}

interface System {
  connection: string;
  partner_company: string;
}

/** Undefined for a tenant that was seen and never applied: it has no HR system. */
function systemOf(tenantId: string, file: string | null): System | undefined {
  const tenant = (file === null ? undefined : parse(file)) as
    | { hris?: { connection?: unknown }; partner?: { company?: string } }
    | undefined;
  const connection = tenant?.hris?.connection;
  if (typeof connection !== 'string') return undefined;
  return { connection, partner_company: String(tenant?.partner?.company ?? tenantId) };
}

/** Rows a statement: databases bound the number of its parameters. */
const AT_ONCE = 500;

async function recordHires(db: Kysely<Earlier>, tenantId: string, system: System): Promise<void> {
  const hires = await db
    .selectFrom('hires')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('candidate_id', 'is not', null)
    .where('employee_id', 'is', null)
    .where((eb) =>
      eb.or([
        eb('state', '=', 'before-go-live'),
        // Recorded, and seen to have left since; a hire that ended has the time of its end.
        eb.and([
          eb('state', '=', 'left'),
          eb.or([eb('observed', 'is not', null), eb('passed_over', 'is not', null), eb('ended_at', 'is', null)]),
        ]),
      ]),
    )
    .orderBy('job_candidate_id', 'desc')
    .orderBy('period', 'desc')
    .execute();
  const rows = [...new Map(hires.map((hire) => [hire.candidate_id, claimOf(hire, system)])).values()];
  for (let from = 0; from < rows.length; from += AT_ONCE)
    await db
      .insertInto('claims')
      .values(rows.slice(from, from + AT_ONCE))
      .onConflict((c) =>
        c
          .columns(['connection', 'partner_company', 'candidate_id'])
          .doUpdateSet((eb) => ({ recorded: eb.fn.coalesce('claims.recorded', 'excluded.recorded') })),
      )
      .execute();
}

function claimOf(hire: EarlierHire, system: System): EarlierClaim {
  const { tenant_id, job_candidate_id, period, candidate_id, opened_at } = hire;
  const how = hire.observed !== null ? 'observed' : hire.passed_over !== null ? 'passed-over' : 'baseline';
  const recorded = JSON.stringify({ how, tenantId: tenant_id, jobCandidateId: job_candidate_id, period });
  const owner = { tenant_id, job_candidate_id, period, claimed_at: opened_at };
  return { ...system, candidate_id: candidate_id ?? '', ...owner, how, recorded };
}

interface Earlier {
  tenants: { tenant_id: string; file: string | null };
  hires: EarlierHire;
  claims: EarlierClaim;
}

interface EarlierHire {
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  candidate_id: string | null;
  employee_id: string | null;
  state: string;
  opened_at: number;
  ended_at: number | null;
  observed: string | null;
  passed_over: string | null;
}

interface EarlierClaim extends System {
  candidate_id: string;
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  claimed_at: number;
  how: string | null;
  recorded: string | null;
}
