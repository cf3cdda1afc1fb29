import type { Context } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import { type Enrolment, enrolmentByJourney, type Step, stepsOf } from '../records/onboarding/enrolments.ts';
import { openJourney, setStep } from '../records/onboarding/onboarding.ts';
import { documentsOf, uploadDocuments } from '../records/onboarding/onboarding-documents.ts';
import { findFlow } from '../records/onboarding/onboarding-flows.ts';
import { alert, badge, type Html, hostedPage, html } from './html.ts';
import type { HostedPage, Visit } from './visit.ts';

/** A step that waits for the candidate. */
const OPEN: ReadonlySet<string> = new Set(['pending', 'in_progress', 'rejected']);
const TONES: Record<string, string> = { verified: 'good', submitted: 'accent', rejected: 'bad' };

/** Where a new colleague works through the steps of onboarding. */
export const journeyPage: HostedPage = {
  show(ctx, visit) {
    const enrolment = journeyOf(ctx, visit);
    const steps = stepsOf(ctx, enrolment.id);
    return hostedPage(
      `Welcome, ${enrolment.firstName}`,
      html`<p>${findFlow(ctx, enrolment.flowId).name} at ${ctx.company.name}</p>
        ${alert(visit.refusal)}${summary(enrolment, steps)}
        <ol class="steps">${steps.map((step) => stepItem(ctx, enrolment, step))}</ol>`,
    );
  },

  act(ctx, visit, form) {
    const { id } = journeyOf(ctx, visit);
    const stepKey = form.get('step') ?? '';
    const names = form.getAll('document').filter((name) => name.trim() !== '');
    const step = stepsOf(ctx, id).find((one) => one.stepKey === stepKey);
    if (step === undefined || !OPEN.has(step.status)) throw invalidRequest('This step is not open');
    if (stepKey === 'doc_collection') {
      if (names.length === 0) throw invalidRequest('Name at least one document');
      uploadDocuments(
        ctx,
        openJourney(ctx, id),
        names.map((name) => ({ name: name.trim(), bytes: 1000 })),
      );
    }
    setStep(ctx, id, stepKey, 'submitted');
    return undefined;
  },
};

/** A link that is no longer good opens nothing (section 2.9). */
function journeyOf(ctx: Context, { key }: Visit): Enrolment {
  return openJourney(ctx, enrolmentByJourney(ctx, key).id);
}

function summary({ overallStatus }: Enrolment, steps: readonly Step[]): Html {
  if (overallStatus === 'completed') return html`<p class="notice good" role="status">Your onboarding is complete.</p>`;
  const open = steps.filter(({ status }) => OPEN.has(status)).length;
  return open === 0
    ? html`<p class="notice good" role="status">You have done your part. Everything is being looked at.</p>`
    : html`<p>${open} of ${steps.length} steps wait for you.</p>`;
}

function stepItem(ctx: Context, enrolment: Enrolment, { stepKey, status, rejectionReason }: Step): Html {
  const name = stepKey.replaceAll('_', ' ');
  const isOpen = OPEN.has(status) && enrolment.overallStatus !== 'completed';
  const documents = stepKey === 'doc_collection' ? documentsOf(ctx, enrolment.id, 'document') : [];
  return html`<li>
    <h2>${name.charAt(0).toUpperCase()}${name.slice(1)} ${badge(status, TONES[status])}</h2>
    ${status === 'rejected' && html`<p class="notice bad">Please send it again: ${rejectionReason}</p>`}
    ${documents.length > 0 && html`<ul>${documents.map((one) => html`<li>${one.name}</li>`)}</ul>`}
    ${isOpen && stepForm(stepKey)}
  </li>`;
}

/** No file is sent: in a sandbox its name is enough. */
function stepForm(stepKey: string): Html {
  const documents = html`<label>Document<input name="document" value="Identity card"></label>
    <label>Another document<input name="document" value="Proof of address"></label>`;
  return html`<form method="post">
    <input type="hidden" name="step" value="${stepKey}">
    ${stepKey === 'doc_collection' && documents}
    <button class="primary">${stepKey === 'doc_collection' ? 'Send these documents' : 'I have done this'}</button>
  </form>`;
}
