import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EmployeeFields, FieldValue } from '../../../src/hire/hire.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { landings } from '../../../src/streams/streams.ts';
import { shortWaits } from '../../harness/short-waits.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { created, write } from '../../hris/profile.ts';
import type { Side } from '../edits.ts';
import { asInput, mappingText, type TwoWayField, twoWayFields } from '../fields.ts';
import { atPartner, hrisFields } from '../world.ts';

/** A linked candidate and employee; the values of both are read from sandbox and HR system. */
export interface RealPerson {
  candidateId: string;
  employeeId: string;
}

export interface RealWorld {
  world: World;
  /** Candidate and employee with the same values, not yet linked. */
  make(nth: number, values: EmployeeFields): Promise<RealPerson>;
  link(people: readonly RealPerson[]): Promise<void>;
  edit(person: RealPerson, field: TwoWayField, side: Side, value: FieldValue): Promise<void>;
  read(person: RealPerson): Promise<{ partner: EmployeeFields; hris: EmployeeFields }>;
  close(): Promise<void>;
}

const STREAMS = `streams:
  employees: { every: 5s, mapping: two-way.yaml }
  employment: { every: 5s }
`;

/** The product's own processes on a real Temporal, with a tenant whose fields go both ways. */
export async function startRealWorld(temporalAddress: string): Promise<RealWorld> {
  const world = await startWorld({
    temporalAddress,
    jobs: 1,
    candidates: 0,
    startDates: false,
    env: shortWaits,
    hris: { fields: hrisFields(twoWayFields) },
  });
  await writeFile(join(world.tenantsDir, 'two-way.yaml'), mappingText());
  await appendFile(join(world.tenantsDir, 'acme.yaml'), STREAMS);
  const hris = await openHris('sql', 'judge', { url: world.hrisUrl, fields: hrisFields(twoWayFields) }, { landings });
  const ids = await defineFields(world);
  const { items: jobs } = await world.partner.readAll(contract.jobs.list);
  const jobId = Number(jobs[0]?.id);
  return {
    world,
    make: (nth, values) => make({ world, hris, ids, jobId }, nth, values),
    link: (people) => link(world, people),
    edit: (person, field, side, value) =>
      side === 'hris'
        ? hris.employees.update(person.employeeId, { [field.name]: value }, write)
        : editPartner(world, ids, person, field, value),
    read: (person) => readBoth(world, hris, ids, person),
    close: async () => {
      await hris.close();
      await world.close();
    },
  };
}

async function defineFields({ partner }: World): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { name, at } of twoWayFields) {
    if ('property' in at) continue;
    const { label: fieldLabel, fieldType, options } = at;
    const body = { entityType: 'candidate', fieldLabel, fieldType, options } as never;
    ids.set(name, String((await partner.customFields.create({ body })).data.id));
  }
  return ids;
}

interface Ends {
  world: World;
  hris: HrisConnection;
  ids: ReadonlyMap<string, string>;
  jobId: number;
}

async function make({ world, hris, ids, jobId }: Ends, nth: number, values: EmployeeFields): Promise<RealPerson> {
  const profile = { firstName: 'Ada', lastName: `Number ${nth}`, email: `ada${nth}@example.com`, country: 'DE' };
  const parsed = { city: 'Berlin', shouldParseResume: false, educations: [], workExperiences: [] };
  const { data } = await world.partner.candidates.add({ body: { ...profile, ...parsed, jobId } });
  const fields = { givenName: 'Ada', familyName: profile.lastName, email: profile.email, startDate: '2026-02-01' };
  const { id: employeeId } = created(await hris.employees.create({ ...fields, ...values }, `ref-${nth}`, write));
  const person = { candidateId: String(data.id), employeeId };
  for (const field of twoWayFields) await editPartner(world, ids, person, field, values[field.name] ?? null);
  return person;
}

async function link(world: World, people: readonly RealPerson[]): Promise<void> {
  const file = join(world.dir, 'links.csv');
  const lines = people.map(({ candidateId, employeeId }) => `${candidateId},${employeeId}`);
  await writeFile(file, ['candidateId,employeeId', ...lines, ''].join('\n'));
  const { code, stderr } = await world.cli(['link', 'import', 'acme', file, '--yes']);
  if (code !== 0) throw new Error(`linking ended with ${code}: ${stderr}`);
}

/** As a recruiter: no fault of the network strikes it. */
async function editPartner(
  { partner, control }: World,
  ids: ReadonlyMap<string, string>,
  { candidateId: entityId }: RealPerson,
  { at, name }: TwoWayField,
  value: FieldValue,
): Promise<void> {
  if ('property' in at)
    await control.act('editCandidate', { candidateId: Number(entityId), fields: { [at.property]: value ?? '' } });
  else {
    const entity = { entityType: 'candidate' as const, entityId };
    const body = { customFieldId: ids.get(name) ?? '', ...entity, value: asInput(value) };
    await partner.customFieldValues.upsert({ body });
  }
}

async function readBoth(
  { partner }: World,
  hris: HrisConnection,
  ids: ReadonlyMap<string, string>,
  { candidateId, employeeId }: RealPerson,
): Promise<{ partner: EmployeeFields; hris: EmployeeFields }> {
  const { data: candidate } = await partner.candidates.get({ params: { candidateId } });
  const query = { entityType: 'candidate' as const, entityId: candidateId };
  const { items } = await partner.readAll(contract.customFieldValues.list, { query });
  const employee = await hris.employees.read(employeeId, AbortSignal.timeout(120_000));
  return { partner: atPartner(candidate, items, { fields: twoWayFields, ids }), hris: employee?.fields ?? {} };
}
