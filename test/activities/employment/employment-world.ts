import { join } from 'node:path';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import type { ActivityDeps, Connection } from '../../../activities/connections.ts';
import { ownHris } from '../../../activities/own-hris.ts';
import { pushRecords } from '../../../activities/push/push-records.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { openSqlDatabase } from '../../../src/hris/sql/open-database.ts';
import { createLogger } from '../../../src/log.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { insertHires } from '../../../src/store/hires.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { created, employee, write } from '../../hris/profile.ts';
import { type OpenSandbox, openSandbox } from '../../sandbox/open-sandbox.ts';
import { linkPerson, who } from '../../store/known-people.ts';
import { freshStore } from '../../store/stores.ts';
import { killablePartner } from '../killable.ts';

interface EmploymentWorldOptions {
  people: number;
  changes?: boolean;
  wrap?: (hris: HrisConnection) => HrisConnection;
  /** What happens before each call to the partner by the stream. */
  beforeCall?: (operation: string) => void;
  /** Nobody is enrolled; the Employee ID is told in a custom field of numbers. */
  inNumberField?: boolean;
}

/** People who were hired: enrolled at a real partner, employed in a real HRIS, linked and written back. */
export async function employmentWorld({
  people,
  changes = true,
  wrap = (hris) => hris,
  beforeCall = () => undefined,
  inNumberField = false,
}: EmploymentWorldOptions) {
  const sandbox = await openSandbox({ jobs: 1, candidates: 0 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { store } = await freshStore('sqlite');
  const { url, hris } = await openStaff(changes);
  const enrolments = await enrolled(sandbox, people);
  for (const [n, enrolment] of enrolments.entries()) await employ({ store, hris, sandbox }, n, enrolment);
  const edit = async (statement: ReturnType<typeof sql>): Promise<void> => {
    const direct = openSqlDatabase(url);
    await statement.execute(direct.kysely);
    await direct.close();
  };
  const numberField = inNumberField ? await tellInNumberField(sandbox, store) : undefined;
  if (numberField !== undefined)
    await edit(sql`update employees set external_ref = ${`17:${numberField.candidateId}`}`);
  const connection = {
    tenant: {
      tenant: 'acme',
      hris: { kind: 'sql', connection: 'hr' },
      streams: { employment: { wholeWithin: 86_400_000 }, employees: { every: 3_600_000 } },
      writeBack: {
        employeeId: 'number',
        status: 'hired',
        leftStatus: 'left',
        values: [],
        customField: numberField?.id,
      },
    },
    mapping: { fields: [], back: [] },
    landings: {},
    exchanges: {},
    partner: killablePartner(sandbox, { pass: beforeCall }),
    hris: ownHris('hr', wrap(hris)),
    keyFingerprint: 'one',
  } as unknown as Connection;
  const woken: string[] = [];
  const deps = {
    store,
    log: createLogger('test'),
    hintStream: async ({ stream }: { stream: string }, ids: readonly string[]) =>
      void woken.push(...ids.map((id) => `${stream} ${id}`)),
    limits: { pausedMs: 0 },
    connections: { of: async () => connection },
  };
  return {
    store,
    sandbox,
    hris,
    /** Which records of which streams are to be read again at once. */
    woken,
    run: (runId: string, hinted = false) =>
      pushRecords(deps as unknown as ActivityDeps, {
        hinted,
        tenantId: 'acme',
        stream: 'employment',
        runId,
        full: false,
        begun: false,
      }),
    /** What somebody does in the HR system. */
    edit,
    /** Status and Employee ID of the nth person, as the partner has them. */
    async shown(n: number) {
      const params = { onboardingCandidateId: enrolments[n] ?? '' };
      return (await sandbox.partner.onboarding.getCandidate({ params })).data.externalStatus;
    },
    /** Values of the custom field, as the partner has them. */
    numbers: async () => {
      const entityId = String(numberField?.candidateId);
      const query = { entityType: 'candidate' as const, entityId };
      const { items } = await sandbox.partner.readAll(contract.customFieldValues.list, { query });
      return items.map(({ parentEntityType, value }) => [parentEntityType, value]);
    },
    writes: async () => (await sandbox.control.ledger({ kind: 'effect', name: 'external-status' })).length,
  };
}

/** The first person is a candidate who has a value of the field at a work experience too. */
async function tellInNumberField({ api }: OpenSandbox, store: Store): Promise<{ id: string; candidateId: number }> {
  const person = { email: 'p0@example.org', workExperiences: [{ title: 'Nurse' }] };
  const { data: candidate } = (await api('POST', '/candidates', person)).body;
  const definition = { entityType: 'candidate', fieldLabel: 'Employee number', fieldType: 'number' };
  const { id } = (await api('POST', '/custom-fields', definition)).body.data;
  const parent = { parentEntityType: 'work_experience', parentEntityId: candidate.workExperiences[0].id };
  const value = { customFieldId: id, entityType: 'candidate', entityId: candidate.id, value: 7, ...parent };
  await api('POST', '/custom-field-values', value);
  await store.kysely.updateTable('hires').set({ onboarding_candidate_id: null }).execute();
  await store.kysely
    .updateTable('person_keys')
    .set({ candidate_id: String(candidate.id) })
    .execute();
  return { id, candidateId: candidate.id };
}

/** A table that takes numbers from outside, so that one can be corrected. */
async function openStaff(changes: boolean): Promise<{ url: string; hris: HrisConnection }> {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  await makeTable(url);
  const followed = changes ? { changes: { column: 'changed_at', overlap: '0s' } } : {};
  const hris = await openHris('sql', 'hr', { url, endColumn: 'last_day', numberColumn: 'badge', ...followed });
  onTestFinished(() => hris.close());
  return { url, hris };
}

async function makeTable(url: string): Promise<void> {
  const database = openSqlDatabase(url, { create: true });
  const columns = 'title, department, location, city, country, employment_type, phone, start_date, birth_date';
  await sql`create table employees (id integer primary key, badge text default (printf('%06d', abs(random() % 900000))),
    given_name text, family_name text, email text, ${sql.raw(columns)}, external_ref text, last_day date,
    changed_at real not null default (unixepoch('subsec')))`.execute(database.kysely);
  await sql`create trigger touch after update on employees when new.changed_at is old.changed_at
    begin update employees set changed_at = unixepoch('subsec') where id = new.id; end`.execute(database.kysely);
  await database.close();
}

async function enrolled({ partner }: OpenSandbox, people: number): Promise<string[]> {
  const [flow] = (await partner.readAll(contract.onboarding.listFlows)).items;
  const candidates = Array.from({ length: people }, (_, n) => ({
    firstName: 'Ana',
    lastName: `Reyes ${n}`,
    email: `p${n}@example.org`,
    externalRef: `hirebridge:${n}:1`,
  }));
  const ids: string[] = [];
  for (const one of candidates) {
    const params = { flowId: flow?.flowId ?? '' };
    ids.push(String((await partner.onboarding.enrol({ params, body: one })).data.onboardingCandidateId));
  }
  return ids;
}

async function employ(
  { store, hris, sandbox }: { store: Store; hris: HrisConnection; sandbox: OpenSandbox },
  n: number,
  enrolment: string,
): Promise<void> {
  const ref = { tenantId: 'acme', jobCandidateId: String(n), period: 1 };
  const { id, number = null } = created(await hris.employees.create(employee(`p${n}`), `17:${n}`, write));
  await insertHires(store, [{ ...ref, candidateId: String(n), jobId: '1', state: 'open' }]);
  await store.kysely
    .updateTable('hires')
    .set({ state: 'done', employee_id: id, employee_number: number, onboarding_candidate_id: enrolment })
    .where('job_candidate_id', '=', ref.jobCandidateId)
    .execute();
  await linkPerson(store, who(String(n)), ref, { id, number });
  const params = { onboardingCandidateId: enrolment };
  await sandbox.partner.onboarding.setExternalStatus({ params, body: { status: 'hired', employeeId: number ?? '' } });
}
