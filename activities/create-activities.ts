import { Context } from '@temporalio/activity';
import { ConnectorError } from '../src/errors.ts';
import { inActivity } from '../src/kill-point.ts';
import { applyPlan } from './apply-plan.ts';
import {
  allowCancellation,
  cancelHire,
  confirmGone,
  describeLeftAfterEmployee,
  readHire,
  startNextEnrolment,
} from './cancel-hire.ts';
import type { ActivityDeps } from './deps.ts';
import { enrol } from './enrol.ts';
import { toFailure } from './failures.ts';
import type { HireActivities } from './hire-activities.ts';
import { openHold, takeAnswer } from './hold-hire.ts';
import { finishHire, hasEmployee, openHire, readOutcome } from './open-hire.ts';
import { planEmployee } from './plan-employee.ts';
import { describeDeadline, readOnboarding } from './read-onboarding.ts';
import { type SweepActivities, sweepTenant } from './sweep-tenant.ts';
import { verify } from './verify.ts';
import { writeBack } from './write-back.ts';

export type Activities = HireActivities & SweepActivities;

/** Every activity bound to what it needs, as plain functions. */
export function bindActivities(deps: ActivityDeps): Activities {
  return {
    openHire: (input) => openHire(deps, input),
    readHire: (input) => readHire(deps, input),
    enrol: (input) => enrol(deps, input),
    startNextEnrolment: (input) => startNextEnrolment(deps, input),
    readOnboarding: (input) => readOnboarding(deps, input),
    describeDeadline: (input) => describeDeadline(input),
    planEmployee: (input) => planEmployee(deps, input),
    applyPlan: (input) => applyPlan(deps, input),
    writeBack: (input) => writeBack(deps, input),
    verify: (input) => verify(deps, input),
    endHire: (input) => finishHire(deps, input),
    confirmGone: (input) => confirmGone(deps, input),
    allowCancellation: (input) => allowCancellation(deps, input),
    cancelHire: (input) => cancelHire(deps, input),
    describeLeftAfterEmployee: (input) => describeLeftAfterEmployee(deps, input),
    hasEmployee: (input) => hasEmployee(deps, input),
    openHold: (input) => openHold(deps, input),
    takeAnswer: (input) => takeAnswer(deps, input),
    readOutcome: (input) => readOutcome(deps, input),
    sweepTenant: (input) => sweepTenant(deps, input),
  };
}

/** The same for Temporal: heartbeats while one runs, and errors as failures that say when to come back. */
export function createActivities(deps: ActivityDeps): Activities {
  const bound = Object.entries(bindActivities(deps)) as Array<[string, (input: unknown) => Promise<unknown>]>;
  return Object.fromEntries(
    bound.map(([name, run]) => [name, asTemporalActivity(deps, name, run)]),
  ) as unknown as Activities;
}

function asTemporalActivity(
  { log }: ActivityDeps,
  name: string,
  run: (input: unknown) => Promise<unknown>,
): (input: unknown) => Promise<unknown> {
  return async (input) => {
    const beating = startHeartbeat();
    try {
      return await inActivity(name, () => run(input));
    } catch (error) {
      if (!(error instanceof ConnectorError)) log.error({ activity: name, err: error }, 'activity failed unexpectedly');
      throw toFailure(error);
    } finally {
      clearInterval(beating);
    }
  };
}

/** A worker that stands still stops beating, and its work moves on after the heartbeat timeout. */
function startHeartbeat(): NodeJS.Timeout {
  const context = Context.current();
  const { heartbeatTimeoutMs = 0 } = context.info;
  return setInterval(() => context.heartbeat(), Math.max(200, heartbeatTimeoutMs / 3));
}
