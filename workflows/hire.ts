import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  log,
  patched,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import {
  HIRE_BEHIND,
  type HintAbout,
  type HireInput,
  type HireProgress,
  type HireRef,
  type HireResult,
  type HireStep,
} from '../src/hire/hire.ts';
import type { Enrolled, HireActivities, WentOn } from '../src/hire/hire-activities.ts';
import { type Held, type HoldCode, type HoldRequest, holdOf } from '../src/hire/holds.ts';
import { hintSignal } from './messages.ts';

/**
 * The employee exists and the ID is written back. Nothing is undone automatically: if the person leaves before the
 * first day, a person is asked.
 */
async function watchDone(hire: Hire): Promise<HireStep> {
  const { ref, activities } = hire;
  if (await isPresent(hire)) return 'ended';
  if (!(await isGoneAfterGrace(hire))) return 'ended';
  if (!patched('judge-departure')) return hold(hire, await activities.describeLeftAfterEmployee(ref));
  return endedAs(hire, await activities.judgeDeparture(ref));
}

async function endEmployment(hire: Hire): Promise<HireStep> {
  return endedAs(hire, await hire.activities.endEmployment(hire.ref));
}

async function handOver(hire: Hire): Promise<HireStep> {
  return endedAs(hire, await hire.activities.handOver(hire.ref));
}

async function endedAs(hire: Hire, end: { verdict: 'over' } | { verdict: 'back' } | Held): Promise<HireStep> {
  if (end.verdict === 'hold') return hold(hire, end.hold);
  if (end.verdict === 'over') hire.progress.outcome = 'left';
  return 'ended';
}

const MOST_VERIFY_TRIES = 5;
const DEADLINE = 'ONBOARDING_DEADLINE' satisfies HoldCode;
/** A hold that is looked at again without an answer, because the HR system may make the employee in the meantime. */
const PENDING = 'LEFT_WHILE_PENDING' satisfies HoldCode;
const LOOK_AGAIN_MS = 900_000;
/** Asks an activity to do the following steps too. */
const GO_ON = { goOn: true, orHold: true };

/** One step of a hire: does its work or waits, and names the next step. */
type Step = (hire: Hire) => Promise<HireStep>;

const steps: Record<Exclude<HireStep, 'ended'>, Step> = {
  enrol,
  're-enrol': reEnrol,
  'await-credits': awaitCredits,
  onboard,
  employ,
  'write-back': writeBack,
  'confirm-left': confirmLeft,
  cancel,
  'watch-done': watchDone,
  'end-employment': endEmployment,
  'hand-over': handOver,
};

/**
 * Follows one application that reached the hiring stage until its employee exists and the partner has the Employee ID.
 * Carries ids and verdicts; every record stays in the store. Checks the current state before each irreversible step.
 */
export async function hire(given: HireInput): Promise<HireResult> {
  const hints = listenForHints();
  // A person may ask for the hire while its run waits to begin.
  const input = hints.has('adopt') && given.carried === undefined ? { ...given, adopt: true } : given;
  const reached = { period: input.behind };
  try {
    return await follow(input, hints, reached);
  } catch (error) {
    const { cause } = error instanceof ActivityFailure ? error : {};
    if (!(cause instanceof ApplicationFailure) || cause.type !== HIRE_BEHIND) throw error;
    await sleep(input.timing.retryMs);
    // The restored store may not know that a person asked for the hire.
    const adopt = input.adopt === true || hints.has('adopt');
    const { period: behind } = reached;
    return startAnew(input, { watch: true, ...(adopt ? { adopt } : {}), ...(behind === undefined ? {} : { behind }) });
  }
}

async function follow(input: HireInput, hints: Hints, reached: { period: number | undefined }): Promise<HireResult> {
  // The first step reads anyway what the start signal named; hints of the run before still need handling.
  const isMoreTold = input.carried === undefined && hints.begin();
  hints.add(input.carried?.hints ?? []);
  const activities = activitiesOf(input);
  const begun = input.carried === undefined ? await open(input, activities) : { progress: input.carried };
  if ('state' in begun) {
    const isDone = begun.state === 'done';
    if (isDone && isMoreTold) hints.add(['person']);
    return endUnlessHeard(input, hints, begun, isDone);
  }
  const { progress, enrolled } = begun;
  if (input.carried === undefined && !isPersonRead(begun) && patched('person-of-the-start')) hints.add(['person']);
  reached.period = progress.period;
  const ref = { tenantId: input.tenantId, jobCandidateId: input.jobCandidateId, period: progress.period };
  const current: Hire = { ref, progress, hints, activities, isJustOpened: input.carried === undefined };
  if (enrolled !== undefined) progress.step = await followEnrolment(current, enrolled);
  while (progress.step !== 'ended') {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof hire>({ ...input, carried: { ...progress, hints: hints.all() } });
    }
    progress.step = progress.hold === undefined ? await steps[progress.step](current) : await park(current);
  }
  const { outcome: state = 'done' } = progress;
  return endUnlessHeard(input, hints, { state, period: ref.period }, state === 'done');
}

/** Acts on hints that came while the hire was ending, because no other workflow will get them. */
async function endUnlessHeard(input: HireInput, hints: Hints, result: HireResult, watch: boolean): Promise<HireResult> {
  const adopt = hints.has('adopt');
  return adopt || hints.has('person') ? startAnew(input, { watch, ...(adopt ? { adopt } : {}) }) : result;
}

async function startAnew(
  { tenantId, jobCandidateId, timing }: HireInput,
  how: Pick<HireInput, 'watch' | 'adopt' | 'behind'>,
): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew<typeof hire>({ tenantId, jobCandidateId, timing, ...how });
}

/** A hire at its first step, with the result of its enrolment if the opening went on to it. */
interface Begun {
  progress: HireProgress;
  enrolled?: Enrolled;
}

async function open(input: HireInput, activities: HireActivities): Promise<Begun | HireResult> {
  const { tenantId, jobCandidateId, adopt = false, watch = false, behind } = input;
  const asked = { tenantId, jobCandidateId, adopt, watch, ...(behind === undefined ? {} : { behind }) };
  const opened = await activities.openHire(asked);
  if (opened.verdict === 'closed') return { state: opened.state, period: opened.period };
  const { period, step, policy, hold: answered, enrolled } = opened;
  const progress = { period, step, policy, ...(answered === undefined ? {} : { hold: { ...answered, from: step } }) };
  return enrolled === undefined ? { progress } : { progress, enrolled };
}

/** Whether the opening read where the person is, or the first step does. */
function isPersonRead({ progress: { step }, enrolled }: Begun): boolean {
  return enrolled?.verdict === 'enrolled' ? enrolled.present === true : step !== 'write-back';
}

/**
 * Picks the step after an activity that may have done later steps too. If the person has moved meanwhile, goes step by
 * step.
 */
function afterGoingOn(hire: Hire, { done = false, held }: WentOn, next: HireStep): HireStep | Promise<HireStep> {
  if (held !== undefined) {
    hire.progress.step = 'write-back';
    return hold(hire, held);
  }
  return done && !hire.hints.has('person') ? 'ended' : next;
}

async function enrol(hire: Hire): Promise<HireStep> {
  const { ref, progress, hints, activities } = hire;
  if (progress.policy.skipOnboarding) return 'employ';
  return followEnrolment(hire, await hints.answeredBy(activities.enrol(ref)));
}

async function followEnrolment(hire: Hire, enrolled: Enrolled): Promise<HireStep> {
  const { progress } = hire;
  if (enrolled.verdict === 'left') return 'confirm-left';
  if (enrolled.verdict === 'hold') return hold(hire, enrolled.hold);
  if (enrolled.verdict === 'no-credits') {
    progress.creditsWaitMs = enrolled.waitMs;
    return 'await-credits';
  }
  if (enrolled.verdict === 'skip') return 'employ';
  if (enrolled.waiting !== true) return 'onboard';
  // The enrolment's answer included its status, so it is read again only when a hint comes.
  progress.step = 'onboard';
  return awaitOnboarding(hire);
}

async function awaitCredits(hire: Hire): Promise<HireStep> {
  const about = await hire.hints.wait(hire.progress.creditsWaitMs);
  return (await isLeft(hire, about, 'left-without-credits')) ? 'confirm-left' : 'enrol';
}

/** Looks at a person who was heard of, because the step that follows the wait may not. */
async function isLeft(hire: Hire, about: Set<HintAbout>, patch: string): Promise<boolean> {
  return about.has('person') && patched(patch) && !(await isPresent(hire));
}

/** A person asked for another enrolment: ends the live one first, and one more credit is spent. */
async function reEnrol(hire: Hire): Promise<HireStep> {
  const { ref, progress, activities } = hire;
  delete progress.deadlineAt;
  const begun = await activities.startNextEnrolment(ref);
  return begun.verdict === 'hold' ? hold(hire, begun.hold) : 'enrol';
}

async function onboard(hire: Hire): Promise<HireStep> {
  const { ref, activities, hints } = hire;
  const onboarding = await hints.answeredBy(activities.readOnboarding({ ...ref, ...GO_ON }));
  if (onboarding.verdict === 'ready') return afterGoingOn(hire, onboarding, 'employ');
  return onboarding.verdict === 'hold' ? hold(hire, onboarding.hold) : awaitOnboarding(hire);
}

async function awaitOnboarding(hire: Hire): Promise<HireStep> {
  const { ref, progress, hints } = hire;
  progress.deadlineAt ??= Date.now() + progress.policy.onboardingDeadlineMs;
  const remaining = progress.deadlineAt - Date.now();
  if (remaining <= 0) return hold(hire, holdOf(DEADLINE, { jobCandidateId: ref.jobCandidateId }));
  const about = await hints.wait(remaining);
  if (about.has('person') && !(await isPresent(hire))) return 'confirm-left';
  return 'onboard';
}

async function employ(hire: Hire): Promise<HireStep> {
  const { ref, activities, hints } = hire;
  const seenAtOpening = hire.isJustOpened && !hints.has('person');
  hire.isJustOpened = false;
  const employed = await hints.answeredBy(activities.employ({ ...ref, ...GO_ON, seenAtOpening }));
  if (employed.verdict === 'hold') return hold(hire, employed.hold);
  if (employed.verdict === 'left') return 'confirm-left';
  if (employed.verdict === 'stale') return 'employ';
  if (employed.verdict === 'not-yet' || employed.verdict === 'pending') {
    const isPending = employed.verdict === 'pending';
    const about = await hints.wait(isPending ? employed.nextCheckMs : undefined);
    return isPending && (await isLeft(hire, about, 'left-while-pending')) ? 'confirm-left' : 'employ';
  }
  return afterGoingOn(hire, employed, 'write-back');
}

async function writeBack(hire: Hire): Promise<HireStep> {
  const { ref, activities, hints } = hire;
  const finished = await activities.finishHire(ref);
  if (finished.verdict === 'hold') return hold(hire, finished.hold);
  if (finished.verdict === 'differs') return writeAgain(hire, finished.hold);
  return hints.has('person') ? 'watch-done' : 'ended';
}

async function writeAgain({ progress, hints, ...hire }: Hire, asked: HoldRequest): Promise<HireStep> {
  const tries = (progress.verifyTries ?? 0) + 1;
  progress.verifyTries = tries % MOST_VERIFY_TRIES;
  if (progress.verifyTries === 0) return hold({ progress, hints, ...hire }, asked);
  await sleep(1_000 * 2 ** tries);
  return 'write-back';
}

/**
 * The person seems to have left the hiring stage. One reading proves nothing: a grace period, a second reading and a
 * check of the key decide.
 */
async function confirmLeft(hire: Hire): Promise<HireStep> {
  if (!(await isGoneAfterGrace(hire))) return 'enrol';
  const allowed = await hire.activities.allowCancellation(hire.ref);
  return allowed.verdict === 'hold' ? hold(hire, allowed.hold) : 'cancel';
}

async function cancel(hire: Hire): Promise<HireStep> {
  const { ref, progress, hints, activities } = hire;
  hints.clear('person');
  const cancelled = await activities.cancelHire(ref);
  if (cancelled.verdict === 'hold') return hold(hire, cancelled.hold);
  if (cancelled.verdict === 'back') return 'enrol';
  progress.outcome = cancelled.state;
  return 'ended';
}

async function park(hire: Hire): Promise<HireStep> {
  const { ref, progress, hints, activities } = hire;
  const held = progress.hold;
  if (held === undefined) return progress.step;
  const answered = await activities.takeAnswer({ ...ref, holdId: held.holdId });
  if (answered.verdict === 'answered') {
    delete progress.hold;
    // Once the hire is done, somebody is asked about an employee whose person left while the hire was held.
    if (progress.isGone === true && patched('gone-while-held')) hints.add(['person']);
    delete progress.isGone;
    if (held.code === DEADLINE) delete progress.deadlineAt;
    if (answered.ends !== undefined) progress.outcome = answered.ends;
    return answered.next === 'same' ? held.from : answered.next;
  }
  const isPending = held.code === PENDING;
  const about = await hints.wait(isPending ? LOOK_AGAIN_MS : undefined);
  if (held.from === 'onboard' && about.has('onboarding') && !about.has('answer') && patched('onboarding-ends-hold')) {
    const onboarding = await activities.readOnboarding({ ...ref, ...GO_ON, asked: true });
    if (onboarding.verdict === 'ready') {
      delete progress.hold;
      if (about.has('person')) hints.add(['person']);
      return afterGoingOn(hire, onboarding, 'employ');
    }
  }
  if (isPending && about.size === 0) {
    delete progress.hold;
    return held.from;
  }
  // After the employee, only a person can say how the hire continues.
  const isAfterEmployee = held.from === 'watch-done' || held.from === 'end-employment';
  if (!about.has('person') || isAfterEmployee) return held.from;
  // The hire is held while it ends: the person may come back, and a refused request is not sent again by itself.
  if (held.from === 'cancel' || held.from === 'confirm-left') {
    hints.clear('person');
    const { verdict } = await activities.lookForReturn(ref);
    if (verdict === 'back') delete progress.hold;
    if (verdict === 'back' || held.from === 'cancel') return verdict === 'back' ? 'enrol' : held.from;
  }
  if (await isPresent(hire)) return held.from;
  if (!(await isGoneAfterGrace(hire))) return held.from;
  if (await activities.hasEmployee(ref)) {
    progress.isGone = true;
    return held.from;
  }
  const allowed = await activities.allowCancellation(ref);
  if (allowed.verdict === 'hold') return held.from;
  delete progress.hold;
  return 'cancel';
}

/** A hire's activities, retried until they work: no hire fails. */
function activitiesOf({ timing }: HireInput): HireActivities {
  return proxyActivities<HireActivities>({
    startToCloseTimeout: timing.attemptMs,
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
  });
}

/** One hire as its workflow follows it. */
interface Hire {
  ref: HireRef;
  progress: HireProgress;
  hints: Hints;
  activities: HireActivities;
  /** Nobody has read the person since the opening did. */
  isJustOpened: boolean;
}

async function isPresent({ ref, activities, hints }: Hire): Promise<boolean> {
  hints.clear('person');
  const { verdict } = await activities.readHire(ref);
  return verdict === 'in';
}

/** Of a hire that is held, somebody's answer goes first: they may have said that it goes on, or ends otherwise. */
async function isGoneAfterGrace(hire: Hire): Promise<boolean> {
  const { ref, progress, hints, activities } = hire;
  const graceEndsAt = Date.now() + progress.policy.cancelGraceMs;
  while (Date.now() < graceEndsAt) {
    const about = await hints.wait(graceEndsAt - Date.now());
    if (progress.hold !== undefined && about.has('answer') && patched('answer-in-grace')) {
      // The departure is looked at again afterwards.
      hints.add(['person']);
      return false;
    }
    if (await isPresent(hire)) return false;
  }
  return (await activities.confirmGone(ref)).verdict === 'gone';
}

/** Parks the hire; `park` waits in the next turn, so that a long wait can continue as new. */
async function hold({ ref, progress, activities }: Hire, request: HoldRequest): Promise<HireStep> {
  const { holdId } = await activities.openHold({ ...ref, hold: request });
  progress.hold = { holdId, code: request.code, from: progress.step };
  log.info('hire held', { holdCode: request.code, holdId });
  return progress.step;
}

/** Hints that a hire got and has not acted upon. */
interface Hints {
  /** Waits for the next hint, at most this long; then returns and clears every hint that came. */
  wait(timeoutMs?: number): Promise<Set<HintAbout>>;
  has(about: HintAbout): boolean;
  all(): HintAbout[];
  add(heard: readonly HintAbout[]): void;
  /** Drops hints about the person that came before this call, if its answer says that it read the person afterwards. */
  answeredBy<T extends object>(call: Promise<T>): Promise<T>;
  /**
   * Clears what came before the run began. True if it was more news of the person than the signal that started the run.
   */
  begin(): boolean;
  clear(about: HintAbout): void;
}

/** Registers the handler before the first await, so that no signal of the start is lost. */
function listenForHints(): Hints {
  const waiting = new Set<HintAbout>();
  let [signals, isMoreTold] = [0, false];
  setHandler(hintSignal, (about) => {
    waiting.add(about);
    signals += 1;
    isMoreTold ||= about === 'person' && signals > 1;
  });
  return {
    async wait(timeoutMs) {
      if (timeoutMs === undefined) await condition(() => waiting.size > 0);
      else await condition(() => waiting.size > 0, timeoutMs);
      const about = new Set(waiting);
      waiting.clear();
      return about;
    },
    has: (about) => waiting.has(about),
    all: () => [...waiting],
    add(heard) {
      for (const about of heard) waiting.add(about);
    },
    async answeredBy(call) {
      const heard = waiting.delete('person');
      const answer = await call;
      if (heard && !('present' in answer && answer.present === true)) waiting.add('person');
      return answer;
    },
    begin() {
      waiting.clear();
      return isMoreTold;
    },
    clear(about) {
      waiting.delete(about);
    },
  };
}
