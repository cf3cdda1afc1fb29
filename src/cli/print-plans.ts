import type { PlanView } from '../operator/plans/plan-view.ts';
import type { Store } from '../store/open-store.ts';
import { EXIT } from './exit-codes.ts';
import { printJson } from './print-json.ts';
import { renderPlan } from './render-plan.ts';
import { byOf } from './tenant/by.ts';

export interface PlanOptions {
  reveal?: boolean;
  json?: boolean;
  as?: string;
}

/** Prints plans, sensitive values masked unless revealed; exit code 2 says that there is something to write. */
export async function printPlans(store: Store, plans: readonly PlanView[], options: PlanOptions): Promise<void> {
  const [{ maskPlan }, { audit }] = await Promise.all([
    import('../operator/plans/plan-view.ts'),
    import('../store/audit.ts'),
  ]);
  const [first] = plans;
  if (options.reveal === true && first !== undefined) {
    const details = `plan of ${plans.map(({ subject }) => subject).join(', ')}`;
    await audit(store, { by: byOf(options), tenantId: first.tenant, act: 'revealed', details });
  }
  const shown = options.reveal === true ? plans : plans.map(maskPlan);
  if (options.json === true) printJson(shown);
  else process.stdout.write(shown.map(renderPlan).join('\n'));
  if (plans.some(({ hash, records }) => hash !== undefined || records.length > 0)) process.exitCode = EXIT.refused;
}
