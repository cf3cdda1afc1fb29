import { ConnectorError } from '../../errors.ts';
import type { Store } from '../../store/open-store.ts';
import { isApplied, pauseByPerson, removeTenant, resumeByPerson, type TenantAct } from '../../store/tenant-acts.ts';
import { PAUSED_BY_PERSON, readTenantState } from '../../store/tenant-states.ts';
import { tenantNotApplied } from './read-tenants.ts';

export type Verb = 'pause' | 'resume' | 'remove';

const acts: Record<Verb, (store: Store, act: TenantAct) => Promise<boolean>> = {
  pause: pauseByPerson,
  resume: resumeByPerson,
  remove: removeTenant,
};

/** Pauses, resumes or removes a tenant; workers and receivers take it up. @throws ConnectorError */
export async function steerTenant(store: Store, verb: Verb, act: TenantAct): Promise<void> {
  if (!(await isApplied(store, act.tenantId))) throw tenantNotApplied(act.tenantId);
  if (await acts[verb](store, act)) return;
  throw await whyNot(store, verb, act.tenantId);
}

async function whyNot(store: Store, verb: Verb, tenantId: string): Promise<ConnectorError> {
  const { state, paused_code: code } = await readTenantState(store, tenantId);
  const byItself = state === 'paused' && code !== PAUSED_BY_PERSON;
  const message = byItself
    ? `Tenant ${tenantId} was paused by ${code ?? 'an error'}, and resumes by itself once the cause is cured.`
    : `Tenant ${tenantId} is ${state}.`;
  return new ConnectorError({
    code: 'TENANT_STATE',
    action: 'reject',
    message: `${message} There is nothing to ${verb}. See: hirebridge status`,
  });
}
