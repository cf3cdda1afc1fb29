import { withFieldValues } from '../../activities/fields/field-values.ts';
import { createLogger } from '../log.ts';
import { evaluateField } from '../mapping/evaluate.ts';
import { fitMapping } from '../mapping/fit-mapping.ts';
import { loadTenantMapping } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { CALL_MS, openHris, openPartner } from './open-tenant.ts';
import { readLatest } from './suggest-mapping.ts';

/** The employee that the last real hire would become. Values are personal data. */
export interface Rehearsal {
  jobCandidateId: string;
  /** The HR system has somebody with this e-mail; undefined if there is no e-mail to look for. */
  isThere?: boolean;
  fields: { field: string; place: string; from: string; value?: unknown; problem?: string }[];
}

/** Maps the last real hire, and looks them up in the HR system. Reads only; undefined if nobody has applied yet. */
export async function rehearseLastHire(tenant: Tenant): Promise<Rehearsal | undefined> {
  const partner = openPartner(tenant);
  try {
    const [latest] = await readLatest(partner, 1);
    if (latest === undefined) return undefined;
    const hris = await openHris(tenant, undefined);
    try {
      const signal = AbortSignal.timeout(CALL_MS);
      const own = await loadTenantMapping(tenant);
      const { mapping } = fitMapping(own, (await hris.describe?.('employee', signal)) ?? []);
      const { candidate = {}, jobCandidate = {} } = latest;
      const side = { partner, log: createLogger('command') };
      const sources = { ...latest, candidate: await withFieldValues(side, [mapping], { candidate, jobCandidate }) };
      const fields = mapping.fields.map((field): Rehearsal['fields'][number] => {
        const result = evaluateField(field, sources);
        const named = { field: field.target, place: field.def.place ?? field.target, from: field.source };
        if ('code' in result) return { ...named, problem: `${result.text} [${result.code}]` };
        return result.value === undefined ? named : { ...named, value: result.value };
      });
      const email = fields.find(({ field }) => field === 'email')?.value;
      const found =
        typeof email === 'string' ? await hris.employees.find({ by: 'email', value: email }, signal) : undefined;
      const isThere = found === undefined ? {} : { isThere: found.kind !== 'none' };
      return { jobCandidateId: String(latest['jobCandidate']?.['id']), ...isThere, fields };
    } finally {
      await hris.close();
    }
  } finally {
    await partner.close();
  }
}
