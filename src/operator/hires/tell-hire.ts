import type { HireStep } from '../../hire/hire-step.ts';
import { describeObserved, type Observed } from '../../hire/observed.ts';
import { shortVersion } from '../../mapping/load-mapping.ts';
import type { HireRecords } from '../../store/hire-records.ts';

/** One thing that happened to a hire. */
export interface StoryLine {
  /** UTC. */
  at: string;
  kind: 'event' | 'hire' | 'read' | 'call' | 'plan' | 'hold' | 'answer' | 'link';
  /** Ids, names and codes; no personal data. */
  text: string;
}

type Told = Omit<StoryLine, 'at'> & { at: number | null };

/** A hire's story, oldest first: events, calls that are made once, plans, holds, answers, and how it stands. */
export function tellHire(records: HireRecords): StoryLine[] {
  const told = [
    ...tellEvents(records),
    ...tellCourse(records),
    ...tellCalls(records),
    ...tellPlans(records),
    ...tellHolds(records),
  ];
  return told
    .filter((line): line is Told & { at: number } => line.at !== null)
    .sort((a, b) => Number(a.at) - Number(b.at))
    .map(({ at, ...line }) => ({ at: new Date(Number(at)).toISOString(), ...line }));
}

/** How a hire stands and what comes next, a sentence each: what whoever looks at it reads first. */
export function sayHire({ hire, holds, links }: HireRecords): { stands: string; next: string } {
  const { tenant_id: tenantId, job_candidate_id: id, period, state, step } = hire;
  const who = `The hire of job candidate ${id} in ${tenantId}${period > 1 ? ` (period ${period})` : ''}`;
  const open = holds.filter((hold) => hold.closed_at === null);
  const asks = open.find((hold) => hold.answered_at === null);
  if (state === 'open' && asks !== undefined)
    return {
      stands: `${who} waits for a person since ${utc(asks.opened_at)}: ${asks.code}.`,
      next: `It goes on once hold ${asks.hold_id} is answered. ${asks.message}`,
    };
  if (state === 'open' && open[0] !== undefined)
    return { stands: `${who} was answered ${open[0].answer ?? ''}.`, next: 'It hears the answer and goes on.' };
  if (state === 'open') return { stands: `${who} ${STEPS[step].now}.`, next: STEPS[step].next };
  const number = hire.employee_number ?? links[0]?.employee_number ?? hire.employee_id;
  const since = hire.ended_at === null ? '' : ` since ${utc(hire.ended_at)}`;
  if (state === 'done')
    return {
      stands: `${who} is done${since}${number === null ? '' : `: employee ${number}`}, written back and verified.`,
      next: 'Nothing more is written. Where the person leaves the stage, it asks what is to be done.',
    };
  if (state === 'before-go-live')
    return {
      stands: `${who} was ${tellBeginning(hire)}.`,
      next: `Nothing starts by itself. To start it: hirebridge hire start ${tenantId} ${id} --adopt`,
    };
  return { stands: `${who} ended${since} as ${state}.`, next: ENDED[state] };
}

const ENDED: Record<'left' | 'cancelled' | 'kept', string> = {
  left: 'The person left. Whoever comes back is hired in the next period.',
  cancelled: 'A person ended it. Nothing starts again by itself while its person is in the stage.',
  kept: 'A person ended it and left everything as it is. Nothing starts again by itself.',
};

const STEPS: Record<HireStep, { now: string; next: string }> = {
  enrol: { now: 'is about to be enrolled', next: 'Both sides are read; then the onboarding begins, unless skipped.' },
  're-enrol': { now: 'is about to be enrolled once more', next: 'Then it waits for the onboarding.' },
  'await-credits': { now: 'waits for onboarding credits', next: 'It goes on once an enrolment is possible again.' },
  onboard: { now: 'waits for the onboarding', next: 'Once it is ready the employee is planned and written.' },
  employ: {
    now: 'is at its employee',
    next: 'The HR system is searched, a plan saved, and the employee written once.',
  },
  'write-back': { now: 'is being written back', next: 'The Employee ID goes to the hiring platform and is read back.' },
  'confirm-left': { now: 'seems to have left the stage', next: 'The next reading decides whether the person left.' },
  cancel: { now: 'is being ended', next: 'Its enrolment is ended, and no employee is made.' },
  'watch-done': { now: 'is done and watched', next: 'Where the person leaves the stage, it asks what is to be done.' },
  'end-employment': { now: 'is at the end of its employment', next: 'The employment ends in the HR system.' },
  'hand-over': { now: 'hands its employee over', next: 'The next hire of this person takes the employee.' },
  ended: { now: 'is over', next: 'Nothing more is done.' },
};

function utc(ms: number): string {
  return new Date(Number(ms)).toISOString();
}

function tellEvents({ deliveries }: HireRecords): Told[] {
  return deliveries.map(({ event, state, received_at: at }) => ({ at, kind: 'event', text: `${event} (${state})` }));
}

function tellCourse({ hire, links }: HireRecords): Told[] {
  const { state, step } = hire;
  const ended = state === 'done' ? 'done: written back, and read again as written' : `ended: ${state}`;
  const made = links.map(
    (link): Told => ({
      at: link.linked_at,
      kind: 'link',
      text: `is employee ${link.employee_id}, number ${link.employee_number ?? 'not given yet'}`,
    }),
  );
  const now: Told[] =
    hire.ended_at === null ? [{ at: hire.updated_at, kind: 'hire', text: `${state}, at ${step}` }] : [];
  return [
    { at: hire.opened_at, kind: 'hire', text: tellBeginning(hire) },
    { at: hire.onboarding_read_at, kind: 'read', text: `onboarding is ${hire.onboarding_status}` },
    ...made,
    ...now,
    ...(state === 'before-go-live' ? [] : [{ at: hire.ended_at, kind: 'hire' as const, text: ended }]),
  ];
}

function tellBeginning({ state, period, observed, passed_over: passedOver }: HireRecords['hire']): string {
  if (state !== 'before-go-live') return `read as hired; opened, period ${period}`;
  if (observed !== null) return `observed as hired; would ${describeObserved(JSON.parse(observed) as Observed)}`;
  if (passedOver !== null) return `recorded as hired, and not started: ${passedOver}`;
  return 'recorded as hired before go-live';
}

function tellCalls({ intents }: HireRecords): Told[] {
  return intents.flatMap(({ verb, attempt, sent_at: sentAt, decided_at: decidedAt, outcome, result }): Told[] => [
    { at: sentAt, kind: 'call', text: `${verb}, attempt ${attempt}: about to be sent` },
    {
      at: decidedAt,
      kind: 'call',
      text: `${verb}, attempt ${attempt}: ${outcome}${result === null ? '' : ` ${result}`}`,
    },
  ]);
}

function tellPlans({ plans }: HireRecords): Told[] {
  return plans.flatMap(
    ({ plan_id: id, mapping_hash: mapping, planned_at: plannedAt, applied_at: appliedAt }): Told[] => [
      {
        at: plannedAt,
        kind: 'plan',
        text: `person and HR system read; ${id} saved, by mapping ${shortVersion(mapping)}`,
      },
      { at: appliedAt, kind: 'plan', text: `${id} applied` },
    ],
  );
}

function tellHolds({ holds }: HireRecords): Told[] {
  return holds.flatMap((hold): Told[] => {
    const ids = (JSON.parse(hold.answer_arguments ?? '[]') as string[]).join(' ');
    const answer = [hold.answer ?? '', ids].join(' ').trim();
    const next = hold.closed_at === null ? ` See: hirebridge hold show ${hold.hold_id}` : '';
    return [
      { at: hold.opened_at, kind: 'hold', text: `${hold.code}: ${hold.message}${next}` },
      { at: hold.answered_at, kind: 'answer', text: `${hold.code}: ${answer}, by ${hold.answered_by ?? 'unknown'}` },
      { at: hold.closed_at, kind: 'hold', text: `${hold.code} closed` },
    ];
  });
}
