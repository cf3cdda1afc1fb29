import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { stableUuid } from '../../random.ts';

/** O9, assumed. */
export const flowStatuses = ['ACTIVE', 'INACTIVE'] as const;

export interface OnboardingFlow {
  id: string;
  name: string;
  status: string;
  /** JSON text of [{ stepKey, stepOrder, isActive }]. */
  steps: string;
  createdAt: number;
  updatedAt: number;
}

export interface FlowStep {
  stepKey: string;
  isActive?: boolean | undefined;
}

const FLOW = 'select id, name, status, steps, created_at as createdAt, updated_at as updatedAt from onboarding_flows';

export function createFlow(
  ctx: Context,
  input: { name: string; steps: readonly FlowStep[]; status?: string | undefined },
): OnboardingFlow {
  const { state, company, now } = ctx;
  const seq = state.nextId('onboarding-flow');
  const id = stableUuid(state.seed, 'onboarding-flow', seq);
  const steps = input.steps.map((step, index) => ({
    stepKey: step.stepKey,
    stepOrder: index + 1,
    isActive: step.isActive ?? true,
  }));
  state.run(
    `insert into onboarding_flows (id, company_id, seq, name, status, steps, created_at, updated_at)
      values (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    input.name,
    input.status ?? 'ACTIVE',
    JSON.stringify(steps),
    now,
    now,
  );
  effect(ctx, 'onboarding-flow', id);
  return findFlow(ctx, id);
}

/** 404 when unknown or another company's. */
export function findFlow(ctx: Context, id: string): OnboardingFlow {
  const flow = ctx.state.one<OnboardingFlow>(`${FLOW} where id = ? and company_id = ?`, id, ctx.company.id);
  if (flow === undefined) throw notFound('Onboarding flow');
  return flow;
}

export function listFlows(ctx: Context, status: string | undefined): OnboardingFlow[] {
  const wanted = status ?? null;
  return ctx.state.all<OnboardingFlow>(
    `${FLOW} where company_id = ? and (? is null or status = ?) order by seq`,
    ctx.company.id,
    wanted,
    wanted,
  );
}

export function setFlowStatus(ctx: Context, id: string, status: string): OnboardingFlow {
  findFlow(ctx, id);
  ctx.state.run('update onboarding_flows set status = ?, updated_at = ? where id = ?', status, ctx.now, id);
  return findFlow(ctx, id);
}

export function renderFlow(flow: OnboardingFlow): Record<string, unknown> {
  const { id, steps, ...fields } = flow;
  return { flowId: id, ...fields, steps: JSON.parse(steps) as unknown };
}
