import { onTestFinished } from 'vitest';
import type { ActivityDeps, Connection } from '../../../activities/connections.ts';
import { currentRecords, watchFields } from '../../../activities/fields/custom-fields.ts';
import { fetchJobCandidates } from '../../../activities/presence/fetch-job-candidates.ts';
import { syncPages } from '../../../activities/streams/pull-pages.ts';
import type { FieldDef, LandingRow } from '../../../src/hris/port.ts';
import { createLogger } from '../../../src/log.ts';
import { evaluateMapping } from '../../../src/mapping/evaluate.ts';
import { compileMapping } from '../../../src/mapping/load-mapping.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { defaultOverrides } from '../../../src/partner/contract/assumptions.ts';
import type { CustomFieldDefinition } from '../../../src/partner/contract/custom-fields.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { listAlarms } from '../../../src/store/alarms.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { parseYaml } from '../../../src/yaml/yaml-file.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore } from '../../store/stores.ts';

const FIELDS: FieldDef[] = [
  { key: 'level', label: 'Level', type: 'text', required: false, writable: true },
  { key: 'shifts', label: 'Shifts', type: 'list', required: false, writable: true },
];
const EMPLOYEE =
  'fields:\n  level: { from: "candidate.customFields[Level]" }\n  shifts: { from: "candidate.customFields[Shifts]" }\n';
const JOBS = 'fields:\n  level: { from: "job.customFields[Level]" }\n';

const mapping = (text: string, file: string) => compileMapping('sql', FIELDS, [parseYaml(file, text)]);

/** A tenant that reads two custom fields of one person and one of the jobs: a real partner, a real store. */
export async function openFields() {
  const sandbox = await openSandbox({ jobs: 3, candidates: 3 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { partner } = sandbox;
  const { store } = await freshStore('sqlite');
  const { landed, connection, deps } = wire(partner, store);
  const [applicant] = await listApplicants(partner);
  const { items: jobs } = await partner.readAll(contract.jobs.list);
  const define = (body: Parameters<typeof partner.customFields.create>[0]['body']) =>
    partner.customFields.create({ body });
  const setValue = (customFieldId: string, entityType: 'candidate' | 'job', entityId: string, value: Value) =>
    partner.customFieldValues.upsert({ body: { customFieldId, entityType, entityId, value } });
  return {
    sandbox,
    store,
    define,
    landed,
    ids: await defineAll(define),
    set: (id: string, value: Value) => setValue(id, 'candidate', String(applicant?.candidateId), value),
    setJob: (id: string, value: Value) => Promise.all(jobs.map((job) => setValue(id, 'job', job.id, value))),
    /** One reconcile's look. */
    watch: () => watchFields(deps, connection),
    /** What the employee would get now. */
    hire: async () => {
      const [fetched] = await fetchJobCandidates(connection, [String(applicant?.jobCandidateId)]);
      const read = { jobCandidate: fetched?.jobCandidate };
      const [records = {}] = await currentRecords(deps, connection, connection.mapping, [read]);
      return evaluateMapping(connection.mapping, { candidate: {}, ...records }).fields;
    },
    sync: (runId: string) => syncPages(deps, { tenantId: 'acme', stream: 'jobs', runId, full: true, begun: false }),
    alarms: async () =>
      (await listAlarms(store, 'acme')).filter(({ kind }) => kind === 'field-changed').map(({ reason }) => reason),
    lists: async () => (await sandbox.control.ledger({ kind: 'request', name: 'customFields.list' })).length,
  };
}

type Value = string | string[] | number;

function wire(partner: PartnerClient, store: Store) {
  const landed = new Map<string, unknown>();
  const land = async (_stream: string, rows: readonly LandingRow[]) => {
    for (const { id, fields } of rows) landed.set(id, fields['level']);
    return { created: rows.length, updated: 0, unchanged: 0 };
  };
  const connection = {
    tenant: {
      tenant: 'acme',
      hris: { kind: 'memory' },
      streams: { jobs: {}, consents: {} },
      writeBack: { values: [] },
    },
    partner,
    hris: { landing: { land, read: async () => [], ids: async () => [] } },
    mapping: mapping(EMPLOYEE, 'acme.yaml'),
    landings: { jobs: mapping(JOBS, 'jobs.yaml') },
    overrides: defaultOverrides,
    exchanges: {},
    keyFingerprint: 'one',
  } as unknown as Connection;
  const deps = {
    store,
    log: createLogger('test'),
    limits: { pausedMs: 1000 },
    connections: { of: async () => connection },
  } as unknown as ActivityDeps;
  return { landed, connection, deps };
}

async function defineAll(define: (body: CustomFieldDefinition) => Promise<{ data: { id: string } }>) {
  const level = { fieldLabel: 'Level', fieldType: 'select', options: ['Junior', 'Senior'] } as const;
  const shifts = { fieldLabel: 'Shifts', fieldType: 'multi-select', options: ['Early', 'Late'] } as const;
  const ids = {
    level: await define({ entityType: 'candidate', ...level, options: [...level.options] }),
    shifts: await define({ entityType: 'candidate', ...shifts, options: [...shifts.options] }),
    job: await define({ entityType: 'job', ...level, options: [...level.options] }),
  };
  return { level: ids.level.data.id, shifts: ids.shifts.data.id, job: ids.job.data.id };
}
