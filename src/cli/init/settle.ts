import { ConnectorError } from '../../errors.ts';
import { type SeenPartner, sameLabel } from '../../operator/checks/see-partner.ts';
import { ask, canAsk, choose } from '../prompt.ts';

/** What is written for something that nobody may have named, and why it is that one. */
export interface Settled {
  value: string;
  why: string;
}

/** The flow that was named, the only one, or the one that a person picks. */
export async function settleFlow({ flows }: SeenPartner, wanted: string | undefined): Promise<Settled> {
  const [only] = flows;
  if (wanted !== undefined) return { value: wanted, why: 'as given' };
  if (only !== undefined && flows.length === 1)
    return { value: only.id, why: `"${only.name}", the only one that is active` };
  if (only !== undefined && canAsk()) {
    const picked = await choose(
      'Onboarding flow',
      flows.map(({ id, name }) => `${name} (${id})`),
    );
    return { value: flows[picked]?.id ?? only.id, why: 'as you chose' };
  }
  const listed = flows.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw unsettled(
    only === undefined
      ? 'The hiring platform has no active onboarding flow. Activate one in its dashboard, then run init again.'
      : `The hiring platform has ${flows.length} active onboarding flows: ${listed}. Name one with --flow.`,
  );
}

const START_DATE = 'Start date';

/** The custom field of the start date, and whether it is still to be defined. */
export interface StartDate extends Settled {
  isNew: boolean;
}

/**
 * The hiring platform has no field of its own for the start date, so one of the candidate's custom fields holds it. One
 * of another name may be any date, so it is never taken unasked: an employee would begin on the wrong day.
 */
export async function settleStartDate(
  { dateFields }: SeenPartner,
  { startDate, define }: { startDate?: string; define?: boolean },
): Promise<StartDate> {
  const label = startDate ?? START_DATE;
  const known = sameLabel(dateFields, label);
  if (known !== undefined)
    return { value: known, why: startDate === undefined ? 'by its name' : 'as given', isNew: false };
  if (define === true || (dateFields.length === 0 && (await isConfirmed(label))))
    return { value: label, why: 'defined there just now', isNew: true };
  if (startDate === undefined && dateFields.length > 0 && canAsk()) {
    const define = `none of them: define "${label}"`;
    const picked = await choose('Custom field that holds the first day of work', [...dateFields, define]);
    const chosen = dateFields[picked];
    if (chosen === undefined) return { value: label, why: 'defined there just now', isNew: true };
    return { value: chosen, why: 'as you chose', isNew: false };
  }
  const there = dateFields.length === 0 ? 'no candidate custom field of type date' : dateFields.join(', ');
  throw unsettled(
    `The hiring platform has no candidate custom field "${label}" of type date for the start date; it has ${there}. ` +
      'Name one with --start-date, or define it with --define.',
  );
}

async function isConfirmed(label: string): Promise<boolean> {
  if (!canAsk()) return false;
  const question = `The hiring platform has no date field for the start date. Define "${label}" there? [y/n]`;
  const expected = 'Expected y or n.';
  return (await ask(question, (answer) => (/^[yn]$/i.test(answer) ? undefined : expected))).toLowerCase() === 'y';
}

function unsettled(message: string): ConnectorError {
  return new ConnectorError({ code: 'INIT_UNCLEAR', action: 'reject', message });
}
