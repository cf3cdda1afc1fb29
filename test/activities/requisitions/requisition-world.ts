import { onTestFinished } from 'vitest';
import type { ActivityDeps, Connection } from '../../../activities/connections.ts';
import { pushRecords } from '../../../activities/push/push-records.ts';
import { isConnectorError } from '../../../src/errors.ts';
import type { Requisition } from '../../../src/hris/port.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import type { CustomFieldDefinition } from '../../../src/partner/contract/custom-fields.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { writeFailpoints } from '../../../src/store/open-store.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { sqliteStore } from '../../store/stores.ts';
import { failpoints, Killed, killablePartner } from '../killable.ts';
import { GIVE_UP_MS, pushDeps } from '../push-deps.ts';

/** Open requisitions of an HRIS in memory; a real partner over sockets, a real store whose clock the test owns. */
export async function requisitionWorld(
  wrap: (partner: PartnerClient) => PartnerClient = (partner) => partner,
  costCentre: ValueForm = { fieldType: 'text' },
  atOnce = 200,
) {
  const sandbox = await openSandbox({ jobs: 1, candidates: 0 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const referenceId = await defineField(sandbox.partner, 'Requisition');
  const costCentreId = await defineField(sandbox.partner, 'Cost centre', costCentre);
  const points = failpoints();
  const clock = { now: 1_700_000_000_000 };
  const plugins = [writeFailpoints(points.pass)];
  const store = await sqliteStore({ now: () => clock.now, plugins });
  const open: Requisition[] = [];
  const connection = {
    tenant: tenantWith(referenceId, costCentreId, atOnce),
    partner: wrap(killablePartner(sandbox, points)),
    hris: { requisitions: { listOpen: async () => open.map((one) => structuredClone(one)) } },
    keyFingerprint: 'one',
  } as unknown as Connection;
  const deps = pushDeps(store, connection);
  return {
    sandbox,
    store,
    points,
    clock,
    open,
    costCentreId,
    once: (runId: string) => once(deps, runId),
    run: (runId: string) => runToEnd(deps, runId, clock),
    rows: () => store.kysely.selectFrom('requisitions').selectAll().orderBy('requisition_id').execute(),
    /** Jobs that carry this requisition's id, by the partner's own list. */
    async jobsOf(id: string) {
      const { items } = await sandbox.partner.readAll(contract.jobs.list, {});
      return items.filter(({ customFields }) => customFields?.[referenceId]?.value === id);
    },
  };
}

type ValueForm = Pick<CustomFieldDefinition, 'fieldType' | 'options'>;

async function defineField(
  partner: PartnerClient,
  fieldLabel: string,
  form: ValueForm = { fieldType: 'text' },
): Promise<string> {
  const body = { entityType: 'job' as const, fieldLabel, parentSection: 'Job Overview', ...form };
  return String((await partner.customFields.create({ body })).data.id);
}

function tenantWith(reference: string, costCentreId: string, atOnce: number) {
  return {
    tenant: 'acme',
    hris: { kind: 'sql', options: { url: 'sqlite:unused', requisitions: {} } },
    streams: { requisitions: {} },
    requisitions: { reference, values: [{ customFieldId: costCentreId, field: 'costCentre' }], atOnce },
    files: {},
  };
}

function once(deps: ActivityDeps, runId: string) {
  return pushRecords(deps, { tenantId: 'acme', stream: 'requisitions', runId, full: false, begun: false });
}

/** As a worker would: again after each kill and each unknown outcome, when its time has come. */
async function runToEnd(deps: ActivityDeps, runId: string, clock: { now: number }) {
  for (let tries = 0; tries < 6; tries += 1) {
    try {
      return await once(deps, runId);
    } catch (error) {
      if (!(error instanceof Killed) && !isConnectorError(error)) throw error;
      clock.now += 2 * GIVE_UP_MS;
    }
  }
  throw new Error('the run came to no end');
}

export function requisition(id: string, fields: Requisition['fields'] = {}): Requisition {
  return {
    id,
    fields: { title: 'Sous chef', city: 'Oslo', state: 'Oslo', country: 'Norway', costCentre: 'K-1', ...fields },
  };
}
