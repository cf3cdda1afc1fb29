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
