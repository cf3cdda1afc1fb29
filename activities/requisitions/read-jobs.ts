import { contract } from '../../src/partner/contract/index.ts';
import type { Job } from '../../src/partner/contract/jobs.ts';
import { decodeValue } from '../../src/partner/custom-field-forms.ts';
import type { ListedJob } from '../../src/plan/plan-requisition.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';

/** Every job of the partner: there is no filter by custom field. One that cannot be read shows nothing of itself. */
export async function readJobs(
  { partner }: Pick<Connection, 'partner'>,
  defined: readonly FieldDefinition[],
): Promise<ListedJob[]> {
  const types = new Map(defined.filter(({ entity }) => entity === 'job').map(({ id, type }) => [id, type]));
  const { items, unreadable } = await partner.readAll(contract.jobs.list, {});
  const silent = unreadable.map(({ id, index }) => ({
    id: id ?? `number ${index + 1}`,
    fields: {},
    values: new Map(),
  }));
  return [...items.map((job) => listed(job, types)), ...silent];
}

function listed(job: Job, types: ReadonlyMap<string, string>): ListedJob {
  const shown = Object.entries(job.customFields ?? {});
  const createdAt = new Date(job.createdAt ?? Number.NaN).getTime();
  return {
    id: String(job.id),
    fields: job,
    values: new Map(shown.map(([id, { value }]) => [id, decodeValue(types.get(id) ?? '', value)])),
    ...(Number.isNaN(createdAt) ? {} : { createdAt }),
  };
}
